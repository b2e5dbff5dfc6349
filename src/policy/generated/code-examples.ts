/** Generated from schemas/ by `npm run generate`. Do not edit. */

/** A set of policies: lines under `spec` of an Upstream, whole files by path, or commands that make the directory. */
export type ExampleSide =
  | { readonly kind: 'spec' | 'shell'; readonly text: string }
  | { readonly kind: 'files'; readonly files: Readonly<Record<string, string>> }

export interface CodeExample {
  readonly code: string
  readonly severity: 'error' | 'warning'
  readonly title: string
  readonly meaning: string
  readonly wrong: ExampleSide
  /** As `forbear check` prints it. */
  readonly message: string
  readonly right: ExampleSide
}

export const CODE_EXAMPLES: readonly CodeExample[] = [
  {
    "code": "FB001",
    "severity": "error",
    "title": "the policy directory cannot be read",
    "meaning": "The directory of `--policies` does not exist, is not a directory, or may not be read; or its link ..data, by which a ConfigMap is mounted, points to nothing.",
    "wrong": {
      "kind": "shell",
      "text": "# nothing has made the directory yet"
    },
    "message": "policies  the policy directory does not exist [FB001]",
    "right": {
      "kind": "shell",
      "text": "mkdir policies && cp payments.yaml policies/"
    }
  },
  {
    "code": "FB002",
    "severity": "error",
    "title": "no policy documents",
    "meaning": "No file of the directory ends in .yaml or .yml, or a file of it holds no document: it is empty, or has only comments and ---. Such a file may be half written, so what it held before stays in force until it has a document or is removed.",
    "wrong": {
      "kind": "shell",
      "text": "mkdir policies && cp payments.yaml policies/payments.txt"
    },
    "message": "policies  no file that ends in .yaml or .yml [FB002]",
    "right": {
      "kind": "shell",
      "text": "mkdir policies && cp payments.yaml policies/payments.yaml"
    }
  },
  {
    "code": "FB003",
    "severity": "error",
    "title": "a file cannot be read",
    "meaning": "A file is there, but is a directory or a device, may not be read, or is not UTF-8 text.",
    "wrong": {
      "kind": "shell",
      "text": "mkdir policies && iconv -t UTF-16 payments.yaml > policies/payments.yaml"
    },
    "message": "policies/payments.yaml  is UTF-16 text: save it as UTF-8 [FB003]",
    "right": {
      "kind": "shell",
      "text": "mkdir policies && iconv -t UTF-8 payments.yaml > policies/payments.yaml"
    }
  },
  {
    "code": "FB004",
    "severity": "error",
    "title": "a file is too large",
    "meaning": "A file has more than 1 MiB, which is more than a ConfigMap may hold.",
    "wrong": {
      "kind": "shell",
      "text": "mkdir policies && yes '# x' | head -c 2000000 | cat payments.yaml - > policies/payments.yaml"
    },
    "message": "policies/payments.yaml  has 2000122 bytes; at most 1048576 are read [FB004]",
    "right": {
      "kind": "shell",
      "text": "mkdir policies && cp payments.yaml policies/"
    }
  },
  {
    "code": "FB010",
    "severity": "error",
    "title": "not valid YAML",
    "meaning": "The text is not YAML 1.2. Only the first place of a document is told, because what follows it is mostly an echo.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { total: 10s\n"
    },
    "message": "policies/payments.yaml:6:13  the { opened here is not closed [FB010]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { total: 10s }\n"
    }
  },
  {
    "code": "FB011",
    "severity": "error",
    "title": "duplicate key",
    "meaning": "A mapping has the same key twice. Which of the two is meant is not for forbear to guess.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { total: 10s }\ntimeouts: { connect: 1s }\n"
    },
    "message": "policies/payments.yaml:7:3  spec.timeouts  the key timeouts stands here twice, at line 6 and at line 7: keep one [FB011]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { total: 10s, connect: 1s }\n"
    }
  },
  {
    "code": "FB012",
    "severity": "error",
    "title": "unrendered template",
    "meaning": "The text holds `{{`, with which nothing of forbear begins but a template that nobody has rendered; or a value under `spec` holds a variable that nobody has expanded, such as `${HOST}` or `$(HOST)`.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { total: {{ .Values.total }} }\n"
    },
    "message": "policies/payments.yaml:6:22  looks like an unrendered template at line 6: render it first, for instance with helm template [FB012]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { total: 10s }\n"
    }
  },
  {
    "code": "FB013",
    "severity": "error",
    "title": "too many values once aliases are expanded",
    "meaning": "A document holds more than 200 000 values, aliases counted as often as they are used. A few lines can stand for billions.",
    "wrong": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "x-a: &a [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\nx-b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nx-c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nx-d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\nx-e: [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\napiVersion: forbear.dev/v1alpha1\nkind: Policy\nmetadata: { name: default }\nspec: { timeouts: { total: 10s } }\n"
      }
    },
    "message": "policies/payments.yaml:5:79  x-e  more than 200000 values once the 49 aliases so far are expanded: no more are read [FB013]",
    "right": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Policy\nmetadata: { name: default }\nspec: { timeouts: { total: 10s } }\n"
      }
    }
  },
  {
    "code": "FB014",
    "severity": "error",
    "title": "nested too deeply",
    "meaning": "A document is nested more than 32 levels deep; none of forbear's needs more than 8.",
    "wrong": {
      "kind": "files",
      "files": {
        "policies/default.yaml": "x-notes: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[deep]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\napiVersion: forbear.dev/v1alpha1\nkind: Policy\nmetadata: { name: default }\nspec: { timeouts: { total: 10s } }\n"
      }
    },
    "message": "policies/default.yaml:1:42  nested more than 32 deep [FB014]",
    "right": {
      "kind": "files",
      "files": {
        "policies/default.yaml": "x-notes: [deep]\napiVersion: forbear.dev/v1alpha1\nkind: Policy\nmetadata: { name: default }\nspec: { timeouts: { total: 10s } }\n"
      }
    }
  },
  {
    "code": "FB015",
    "severity": "error",
    "title": "an alias without a value",
    "meaning": "An alias (`*name`) has no anchor (`&name`) before it in its own document; anchors end with their document, at `---`.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: *quick\n"
    },
    "message": "policies/payments.yaml:6:13  spec.timeouts  *quick has no &quick before it in this document [FB015]",
    "right": {
      "kind": "spec",
      "text": "timeouts: &quick { connect: 500ms, total: 5s }\n"
    }
  },
  {
    "code": "FB016",
    "severity": "error",
    "title": "a key that is not text",
    "meaning": "A key is a mapping, a list, missing, or a truth value. Tools of YAML 1.1 turn `on:`, `yes:`, `off:` and `no:` into `true:` and `false:` when they write a file anew.",
    "wrong": {
      "kind": "spec",
      "text": "true: [connect, 503]\n"
    },
    "message": "policies/payments.yaml:6:3  spec  the key is the truth value true: tools of YAML 1.1 turn on, yes, off and no into it [FB016]",
    "right": {
      "kind": "spec",
      "text": "retry: { retryOn: [connect, 503] }\n"
    }
  },
  {
    "code": "FB017",
    "severity": "error",
    "title": "a YAML feature that is not supported",
    "meaning": "A merge key without a mapping, a tag that forbear does not know, a `%YAML` line of another version than 1.2, or a line that ends in CR alone.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { <<: 5s }\n"
    },
    "message": "policies/payments.yaml:6:19  spec.timeouts[\"<<\"]  << takes a mapping or a list of mappings, such as <<: *name [FB017]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { total: 5s }\n"
    }
  },
  {
    "code": "FB018",
    "severity": "error",
    "title": "more YAML than is read",
    "meaning": "A file has more than 400 000 words, marks and line ends, more than 2000 documents or entries in one list or mapping, or 1000 errors. Such files are made by tools, by mistake or to keep the parser busy; the documents before that place are read.",
    "wrong": {
      "kind": "shell",
      "text": "mkdir policies && yes -- '---' | head -n 2500 | cat payments.yaml - > policies/payments.yaml"
    },
    "message": "policies/payments.yaml:2006:1  more than 2000 documents in one file: no more are read [FB018]",
    "right": {
      "kind": "shell",
      "text": "mkdir policies && cp payments.yaml policies/"
    }
  },
  {
    "code": "FB019",
    "severity": "error",
    "title": "more errors than are shown",
    "meaning": "A set has more than 100 messages. The first 100 errors are shown, the others are counted here.",
    "wrong": {
      "kind": "shell",
      "text": "mkdir policies && { cat payments.yaml; seq -f '  k%g: 1' 120; } > policies/payments.yaml"
    },
    "message": "and 20 more errors: mend those above first [FB019]",
    "right": {
      "kind": "shell",
      "text": "mkdir policies && cp payments.yaml policies/"
    }
  },
  {
    "code": "FB020",
    "severity": "error",
    "title": "not a document of forbear",
    "meaning": "A document of another tool, or none at all, among the policies.",
    "wrong": {
      "kind": "files",
      "files": {
        "policies/service.yaml": "apiVersion: v1\nkind: Service\nmetadata: { name: payments }\n"
      }
    },
    "message": "policies/service.yaml:2:7  kind  kind \"Service\" of \"v1\" is not a document of forbear; it is a Kubernetes Service; write an Upstream with its address as spec.target [FB020]",
    "right": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com }\n"
      }
    }
  },
  {
    "code": "FB021",
    "severity": "error",
    "title": "unknown version of the format",
    "meaning": "A document of forbear whose `apiVersion` is missing or is not one that this version reads.",
    "wrong": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com }\n"
      }
    },
    "message": "policies/payments.yaml:1:13  apiVersion  apiVersion \"forbear.dev/v1\" is not known: write forbear.dev/v1alpha1 [FB021]",
    "right": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com }\n"
      }
    }
  },
  {
    "code": "FB022",
    "severity": "error",
    "title": "unknown kind",
    "meaning": "A document of forbear of a kind that there is not.",
    "wrong": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstreams\nmetadata: { name: payments }\nspec: { target: https://payments.example.com }\n"
      }
    },
    "message": "policies/payments.yaml:2:7  kind  kind \"Upstreams\" is not Upstream or Policy; did you mean Upstream? [FB022]",
    "right": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com }\n"
      }
    }
  },
  {
    "code": "FB030",
    "severity": "error",
    "title": "unknown key",
    "meaning": "The key is not known where it stands: misspelt, or a level too high or too low. It is refused rather than skipped, since whoever wrote it relies on it.",
    "wrong": {
      "kind": "spec",
      "text": "retry: { maxAtempts: 3 }\n"
    },
    "message": "policies/payments.yaml:6:12  spec.retry.maxAtempts  unknown key \"maxAtempts\"; did you mean maxAttempts? [FB030]",
    "right": {
      "kind": "spec",
      "text": "retry: { maxAttempts: 3 }\n"
    }
  },
  {
    "code": "FB032",
    "severity": "error",
    "title": "missing key",
    "meaning": "A key that has no default is not there.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - match: { path: /v1/orders }\n"
    },
    "message": "policies/payments.yaml:7:7  spec.routes[0].name  name is missing [FB032]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - name: orders\n    match: { path: /v1/orders }\n"
    }
  },
  {
    "code": "FB033",
    "severity": "error",
    "title": "empty value",
    "meaning": "The key is there and its value is not. That is a mistake rather than a default: often a value was commented out or a template gave nothing.",
    "wrong": {
      "kind": "spec",
      "text": "retry:\n# maxAttempts: 3\n"
    },
    "message": "policies/payments.yaml:6:3  spec.retry  retry is empty: remove the key or give it a value [FB033]",
    "right": {
      "kind": "spec",
      "text": "retry:\n  maxAttempts: 3\n"
    }
  },
  {
    "code": "FB034",
    "severity": "error",
    "title": "wrong type",
    "meaning": "The value is of another type than the field. Nothing is coerced; `\"3\"` is not a number.",
    "wrong": {
      "kind": "spec",
      "text": "retry: { maxAttempts: \"3\" }\n"
    },
    "message": "policies/payments.yaml:6:25  spec.retry.maxAttempts  expected a whole number from 1 to 50, got the text \"3\": write 3 without quotes [FB034]",
    "right": {
      "kind": "spec",
      "text": "retry: { maxAttempts: 3 }\n"
    }
  },
  {
    "code": "FB035",
    "severity": "error",
    "title": "unknown word",
    "meaning": "The field takes one of a few words, and this is none of them.",
    "wrong": {
      "kind": "spec",
      "text": "breaker: { mode: enfore }\n"
    },
    "message": "policies/payments.yaml:6:20  spec.breaker.mode  \"enfore\" is not enforce, observe or disabled; did you mean enforce? [FB035]",
    "right": {
      "kind": "spec",
      "text": "breaker: { mode: enforce }\n"
    }
  },
  {
    "code": "FB036",
    "severity": "error",
    "title": "out of range",
    "meaning": "A number, duration or size lies below or above what the field takes.",
    "wrong": {
      "kind": "spec",
      "text": "retry: { maxAttempts: 0 }\n"
    },
    "message": "policies/payments.yaml:6:25  spec.retry.maxAttempts  0 would be no call at all: write 1, the first attempt counts [FB036]",
    "right": {
      "kind": "spec",
      "text": "retry: { maxAttempts: 1 }\n"
    }
  },
  {
    "code": "FB037",
    "severity": "error",
    "title": "wrong form",
    "meaning": "A text does not have the form of its field: a duration, a size, an address, a URL, a path, a name or a header name.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { total: 1.5s }\n"
    },
    "message": "policies/payments.yaml:6:22  spec.timeouts.total  \"1.5s\" is not a duration such as 250ms or 1m30s, from 1ms to 24h, or none; did you mean 1500ms? [FB037]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { total: 1s500ms }\n"
    }
  },
  {
    "code": "FB038",
    "severity": "error",
    "title": "wrong number of items",
    "meaning": "A list or mapping has too few or too many items, or the same item twice.",
    "wrong": {
      "kind": "spec",
      "text": "retry: { backoff: { jitter: [0.8, 1, 1.2] } }\n"
    },
    "message": "policies/payments.yaml:6:31  spec.retry.backoff.jitter  must be none, full, equal, decorrelated, or a range such as [0.8, 1.2] [FB038]",
    "right": {
      "kind": "spec",
      "text": "retry: { backoff: { jitter: [0.8, 1.2] } }\n"
    }
  },
  {
    "code": "FB040",
    "severity": "error",
    "title": "two documents or routes of one name",
    "meaning": "Two Upstreams, two Policies, or two routes of one Upstream have the same name. Names are metric labels.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - { name: orders, match: { methods: [GET] } }\n  - { name: orders, match: { methods: [POST] } }\n"
    },
    "message": "policies/payments.yaml:8:15  spec.routes[1].name  the route name \"orders\" is taken at policies/payments.yaml:7 [FB040]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - { name: read-orders, match: { methods: [GET] } }\n  - { name: place-order, match: { methods: [POST] } }\n"
    }
  },
  {
    "code": "FB041",
    "severity": "error",
    "title": "two upstreams listen on one port",
    "meaning": "Two Upstreams have the same own port, on addresses that overlap.",
    "wrong": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com, listen: 127.0.0.1:15101 }\n",
        "policies/search.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: search }\nspec: { target: https://search.example.com, listen: 127.0.0.1:15101 }\n"
      }
    },
    "message": "policies/search.yaml:4:53  spec.listen  the port 15101 is also claimed by the Upstream \"payments\" at policies/payments.yaml:4 [FB041]",
    "right": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com, listen: 127.0.0.1:15101 }\n",
        "policies/search.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: search }\nspec: { target: https://search.example.com, listen: 127.0.0.1:15102 }\n"
      }
    }
  },
  {
    "code": "FB042",
    "severity": "error",
    "title": "two upstreams claim one host",
    "meaning": "A `Host` on the shared port would mean two Upstreams.",
    "wrong": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com, match: { hosts: [shop.internal] } }\n",
        "policies/search.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: search }\nspec: { target: https://search.example.com, match: { hosts: [shop.internal] } }\n"
      }
    },
    "message": "policies/search.yaml:4:62  spec.match.hosts[0]  the host shop.internal is also claimed by the Upstream \"payments\" at policies/payments.yaml:4 [FB042]",
    "right": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com, match: { hosts: [shop.internal] } }\n",
        "policies/search.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: search }\nspec: { target: https://search.example.com, match: { hosts: [search.internal] } }\n"
      }
    }
  },
  {
    "code": "FB043",
    "severity": "error",
    "title": "two upstreams claim one path prefix",
    "meaning": "A path prefix on the shared port would mean two Upstreams. Without `match.pathPrefix` it is the name.",
    "wrong": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com }\n",
        "policies/search.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: search }\nspec: { target: https://search.example.com, match: { pathPrefix: /payments } }\n"
      }
    },
    "message": "policies/search.yaml:4:66  spec.match.pathPrefix  the path prefix /payments is also claimed by the Upstream \"payments\" at policies/payments.yaml:3 [FB043]",
    "right": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com }\n",
        "policies/search.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: search }\nspec: { target: https://search.example.com, match: { pathPrefix: /search } }\n"
      }
    }
  },
  {
    "code": "FB044",
    "severity": "error",
    "title": "policyRef names no Policy",
    "meaning": "No Policy of the set has the name that `policyRef` gives.",
    "wrong": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com, policyRef: carefull }\n",
        "policies/careful.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Policy\nmetadata: { name: careful }\nspec: { retry: { maxAttempts: 2 } }\n"
      }
    },
    "message": "policies/payments.yaml:4:58  spec.policyRef  no Policy is called \"carefull\"; did you mean careful? [FB044]",
    "right": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec: { target: https://payments.example.com, policyRef: careful }\n",
        "policies/careful.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Policy\nmetadata: { name: careful }\nspec: { retry: { maxAttempts: 2 } }\n"
      }
    }
  },
  {
    "code": "FB050",
    "severity": "error",
    "title": "an attempt may take longer than the request",
    "meaning": "The clock of one attempt is longer than that of the whole request, so it could never end an attempt.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { attempt: 10s, total: 5s }\n"
    },
    "message": "policies/payments.yaml:6:24  spec.timeouts.attempt  timeouts.attempt 10s cannot fit into timeouts.total 5s (policies/payments.yaml:6): make it shorter or leave it out [FB050]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { attempt: 2s, total: 5s }\n"
    }
  },
  {
    "code": "FB051",
    "severity": "warning",
    "title": "a retry on an answer that repeating cannot change",
    "meaning": "Most answers of 4xx mean that the request is wrong, and it is as wrong the next time. Only 408, 425 and 429 mean \"later\".",
    "wrong": {
      "kind": "spec",
      "text": "retry: { retryOn: [connect, 404, 503] }\n"
    },
    "message": "policies/payments.yaml:6:31  spec.retry.retryOn[1]  warning: 404 is answered the same however often one asks: of 4xx only 408, 425 and 429 are worth a retry [FB051]",
    "right": {
      "kind": "spec",
      "text": "retry: { retryOn: [connect, 503] }\n"
    }
  },
  {
    "code": "FB052",
    "severity": "error",
    "title": "retries without a budget",
    "meaning": "Retries are asked for while the budget for them is zero.",
    "wrong": {
      "kind": "spec",
      "text": "retry: { maxAttempts: 3 }\nbudget: { ratio: 0, minPerSecond: 0 }\n"
    },
    "message": "policies/payments.yaml:6:25  spec.retry.maxAttempts  retry.maxAttempts 3 with budget.ratio 0 (policies/payments.yaml:7) and budget.minPerSecond 0 (policies/payments.yaml:7): no retry is ever granted; give the budget something or write maxAttempts: 1 [FB052]",
    "right": {
      "kind": "spec",
      "text": "retry: { maxAttempts: 3 }\nbudget: { ratio: 0.2 }\n"
    }
  },
  {
    "code": "FB053",
    "severity": "warning",
    "title": "a budget that never grants a retry",
    "meaning": "Only whole retries are granted. With a `ratio` of 0, `minPerSecond` times `window` below one never makes one.",
    "wrong": {
      "kind": "spec",
      "text": "budget: { ratio: 0, minPerSecond: 0.05 }\n"
    },
    "message": "policies/payments.yaml:6:20  spec.budget.ratio  warning: budget.ratio 0 and budget.minPerSecond 0.05 (policies/payments.yaml:6) over budget.window 10s (the default) are less than one retry: none is ever granted; to turn retries off, write retry.maxAttempts: 1 [FB053]",
    "right": {
      "kind": "spec",
      "text": "budget: { ratio: 0, minPerSecond: 0.5 }\n"
    }
  },
  {
    "code": "FB054",
    "severity": "warning",
    "title": "a Retry-After cap above the total",
    "meaning": "A `Retry-After` that long would be obeyed, but the request ends before it.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { total: 10s }\nretry: { retryAfter: { cap: 1m } }\n"
    },
    "message": "policies/payments.yaml:7:31  spec.retry.retryAfter.cap  warning: retry.retryAfter.cap 1m is above timeouts.total 10s (policies/payments.yaml:6): no request lives to wait for such a hint [FB054]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { total: 10s }\nretry: { retryAfter: { cap: 5s } }\n"
    }
  },
  {
    "code": "FB055",
    "severity": "error",
    "title": "calls shall wait and none may",
    "meaning": "Breaker or gate shall hold calls back until the upstream has recovered, and `maxWaiting` lets none wait.",
    "wrong": {
      "kind": "spec",
      "text": "breaker: { whenOpen: wait }\nlimits: { maxWaiting: 0 }\n"
    },
    "message": "policies/payments.yaml:7:25  spec.limits.maxWaiting  limits.maxWaiting 0 with breaker.whenOpen wait (policies/payments.yaml:6): calls shall wait and none may [FB055]",
    "right": {
      "kind": "spec",
      "text": "breaker: { whenOpen: wait }\nlimits: { maxWaiting: 100 }\n"
    }
  },
  {
    "code": "FB056",
    "severity": "warning",
    "title": "a backoff that begins at its cap",
    "meaning": "The first delay is already above the longest, so that every delay is the longest.",
    "wrong": {
      "kind": "spec",
      "text": "retry: { backoff: { base: 5s, cap: 2s } }\n"
    },
    "message": "policies/payments.yaml:6:29  spec.retry.backoff.base  warning: retry.backoff.base 5s is above retry.backoff.cap 2s (policies/payments.yaml:6): every wait is as long as the cap [FB056]",
    "right": {
      "kind": "spec",
      "text": "retry: { backoff: { base: 200ms, cap: 2s } }\n"
    }
  },
  {
    "code": "FB057",
    "severity": "warning",
    "title": "the breaker shall be open longer than it may",
    "meaning": "The shortest time that the breaker stays open is above the longest.",
    "wrong": {
      "kind": "spec",
      "text": "breaker: { openFor: 30s, maxOpenFor: 10s }\n"
    },
    "message": "policies/payments.yaml:6:23  spec.breaker.openFor  warning: breaker.openFor 30s is longer than breaker.maxOpenFor 10s (policies/payments.yaml:6) [FB057]",
    "right": {
      "kind": "spec",
      "text": "breaker: { openFor: 1s, maxOpenFor: 10s }\n"
    }
  },
  {
    "code": "FB058",
    "severity": "error",
    "title": "a route loosens its budget",
    "meaning": "A route's own budget grants more than its upstream's. Its retries are withdrawn from both, so it cannot.",
    "wrong": {
      "kind": "spec",
      "text": "budget: { ratio: 0.1 }\nroutes:\n  - { name: orders, match: { path: /v1/orders }, budget: { ratio: 0.5 } }\n"
    },
    "message": "policies/payments.yaml:8:69  spec.routes[0].budget.ratio  budget.ratio 0.5 is above the upstream's own budget.ratio 0.1 (policies/payments.yaml:6): a route may only tighten it [FB058]",
    "right": {
      "kind": "spec",
      "text": "budget: { ratio: 0.1 }\nroutes:\n  - { name: orders, match: { path: /v1/orders }, budget: { ratio: 0.05 } }\n"
    }
  },
  {
    "code": "FB059",
    "severity": "error",
    "title": "two keys that exclude each other, or that need each other",
    "meaning": "`path` and `pathPrefix` exclude each other, `tls` needs an https target, `certFile` and `keyFile` need each other.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - { name: orders, match: { path: /v1/orders, pathPrefix: /v1 } }\n"
    },
    "message": "policies/payments.yaml:7:50  spec.routes[0].match.pathPrefix  path and pathPrefix exclude each other: keep one [FB059]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - { name: orders, match: { path: /v1/orders } }\n"
    }
  },
  {
    "code": "FB060",
    "severity": "warning",
    "title": "a listener that other hosts can reach",
    "meaning": "The port is bound on an address that other hosts reach. They could call the upstream as if they were this app.",
    "wrong": {
      "kind": "spec",
      "text": "listen: 0.0.0.0:15101\n"
    },
    "message": "policies/payments.yaml:6:11  spec.listen  warning: 0.0.0.0:15101 can be reached from other hosts, which could then call the upstream as this app: prefer 127.0.0.1:15101 [FB060]",
    "right": {
      "kind": "spec",
      "text": "listen: 127.0.0.1:15101\n"
    }
  },
  {
    "code": "FB061",
    "severity": "warning",
    "title": "attempts that cannot all run to their timeout",
    "meaning": "When attempts time out, the request ends before all of `maxAttempts` have been made.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { attempt: 5s, total: 10s }\nretry: { maxAttempts: 4 }\n"
    },
    "message": "policies/payments.yaml:7:25  spec.retry.maxAttempts  warning: retry.maxAttempts 4 with timeouts.attempt 5s (policies/payments.yaml:6) does not fit into timeouts.total 10s (policies/payments.yaml:6): once 2 attempts have timed out there is no time for another [FB061]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { attempt: 2s, total: 10s }\nretry: { maxAttempts: 4 }\n"
    }
  },
  {
    "code": "FB062",
    "severity": "error",
    "title": "a key is to be generated and no header may carry it",
    "meaning": "Forbear shall add a key to each request, and `keyHeaders` names no header to put it into.",
    "wrong": {
      "kind": "spec",
      "text": "retry: { idempotency: { generate: true, keyHeaders: [] } }\n"
    },
    "message": "policies/payments.yaml:6:37  spec.retry.idempotency.generate  retry.idempotency.generate true with retry.idempotency.keyHeaders [] (policies/payments.yaml:6): there is no header to put the key into; name one, such as [Idempotency-Key] [FB062]",
    "right": {
      "kind": "spec",
      "text": "retry: { idempotency: { generate: true, keyHeaders: [Idempotency-Key] } }\n"
    }
  },
  {
    "code": "FB063",
    "severity": "warning",
    "title": "retries of calls that are hardly ever repeated",
    "meaning": "A route for methods that are not idempotent asks for retries, and nothing says how a call may be repeated of which something was sent. Writing `keyHeaders`, `generate: true` or `retryOn: [connect]` says it.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - { name: pay, match: { methods: [POST] }, retry: { maxAttempts: 3 } }\n"
    },
    "message": "policies/payments.yaml:7:70  spec.routes[0].retry.maxAttempts  warning: retry.maxAttempts 3 for POST: a call of which something was sent is not repeated unless the app sends Idempotency-Key; for an upstream that honours such keys, write retry.idempotency.generate: true [FB063]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - { name: pay, match: { methods: [POST] }, retry: { maxAttempts: 3, idempotency: { generate: true } } }\n"
    }
  },
  {
    "code": "FB064",
    "severity": "warning",
    "title": "whenOpen beside a breaker that never opens",
    "meaning": "Calls wait only for a breaker that opens; with `mode` observe or disabled it never holds a call back.",
    "wrong": {
      "kind": "spec",
      "text": "breaker: { mode: observe, whenOpen: wait }\n"
    },
    "message": "policies/payments.yaml:6:39  spec.breaker.whenOpen  warning: breaker.whenOpen wait does nothing with breaker.mode observe (policies/payments.yaml:6): no call is held back [FB064]",
    "right": {
      "kind": "spec",
      "text": "breaker: { mode: enforce, whenOpen: wait }\n"
    }
  },
  {
    "code": "FB065",
    "severity": "warning",
    "title": "a route that no call reaches",
    "meaning": "The first route that matches is taken, and an earlier one matches every call that this one would; or the route asks for one header, in two spellings, with two values.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - { name: all, match: {} }\n  - { name: orders, match: { path: /v1/orders } }\n"
    },
    "message": "policies/payments.yaml:8:23  spec.routes[1].match  warning: no call reaches this route: the route \"all\" at policies/payments.yaml:7 comes first and matches all of them [FB065]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - { name: orders, match: { path: /v1/orders } }\n  - { name: all, match: {} }\n"
    }
  },
  {
    "code": "FB066",
    "severity": "warning",
    "title": "an attempt clock on a long poll",
    "meaning": "The attempts of a route with `longPoll` have no clock of their own, so the one that is written does nothing.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - { name: events, match: { path: /events }, longPoll: true, timeouts: { attempt: 5s } }\n"
    },
    "message": "policies/payments.yaml:7:86  spec.routes[0].timeouts.attempt  warning: timeouts.attempt 5s does nothing on a route with longPoll: its attempts have no clock but timeouts.total [FB066]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - { name: events, match: { path: /events }, longPoll: true, timeouts: { total: 5m } }\n"
    }
  },
  {
    "code": "FB067",
    "severity": "warning",
    "title": "a connect clock above the total",
    "meaning": "The request ends before the clock for opening a connection does, so that one never strikes.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { connect: 5s, total: 2s }\n"
    },
    "message": "policies/payments.yaml:6:24  spec.timeouts.connect  warning: timeouts.connect 5s is above timeouts.total 2s (policies/payments.yaml:6): the request ends before this clock does [FB067]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { connect: 1s, total: 2s }\n"
    }
  },
  {
    "code": "FB068",
    "severity": "warning",
    "title": "a budget that grants nothing but to very many calls",
    "meaning": "The ratio is so small, and the floor below one retry, that an upstream with less than a hundred calls a second is never granted any.",
    "wrong": {
      "kind": "spec",
      "text": "budget: { ratio: 0.001, minPerSecond: 0 }\n"
    },
    "message": "policies/payments.yaml:6:20  spec.budget.ratio  warning: budget.ratio 0.001 with budget.minPerSecond 0 (policies/payments.yaml:6) over budget.window 10s (the default): no retry is granted below 1000 calls a second [FB068]",
    "right": {
      "kind": "spec",
      "text": "budget: { ratio: 0.1, minPerSecond: 0 }\n"
    }
  },
  {
    "code": "FB069",
    "severity": "warning",
    "title": "more warnings than are shown",
    "meaning": "A set has more than 100 messages, the errors among them are all shown, and so many warnings are not.",
    "wrong": {
      "kind": "shell",
      "text": "mkdir policies && { cat payments.yaml; echo '  routes:'; for n in $(seq 120); do echo \"    - { name: r$n, match: { path: /r$n }, longPoll: true, timeouts: { attempt: 5s } }\"; done; } > policies/payments.yaml"
    },
    "message": "warning: and 20 more warnings: mend those above first [FB069]",
    "right": {
      "kind": "shell",
      "text": "mkdir policies && cp payments.yaml policies/"
    }
  },
  {
    "code": "FB070",
    "severity": "warning",
    "title": "a wildcard that matches only itself",
    "meaning": "A path is compared segment by segment. `{name}` stands for one segment and `pathPrefix` for all paths below; the wildcards of other tools are ordinary characters.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - { name: orders, match: { path: /orders/* } }\n"
    },
    "message": "policies/payments.yaml:7:38  spec.routes[0].match.path  warning: \"*\" is no wildcard here and matches only itself: {name} stands for one segment, write path: /orders/{id}, or pathPrefix: /orders for all below [FB070]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - { name: orders, match: { path: \"/orders/{id}\" } }\n"
    }
  },
  {
    "code": "FB071",
    "severity": "warning",
    "title": "a method that hardly any call has",
    "meaning": "The method is allowed, since there may be any, but it looks like another one misspelt, or like a word for all of them.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - { name: remove, match: { methods: [DELTE] } }\n"
    },
    "message": "policies/payments.yaml:7:42  spec.routes[0].match.methods[0]  warning: \"DELTE\" is not a method that is in use; did you mean DELETE? [FB071]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - { name: remove, match: { methods: [DELETE] } }\n"
    }
  },
  {
    "code": "FB072",
    "severity": "warning",
    "title": "two upstreams that calls by URL cannot tell apart",
    "meaning": "A call that names a whole URL, as apps with a proxy variable make it, is for the upstream with its host in `match.hosts`, else for the one with that target. Another upstream with the same target is reached by its path prefix or its own port only.",
    "wrong": {
      "kind": "files",
      "files": {
        "policies/a.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: careful }\nspec: { target: https://payments.example.com }\n",
        "policies/b.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: hasty }\nspec: { target: https://payments.example.com }\n"
      }
    },
    "message": "policies/b.yaml:4:17  spec.target  warning: this is also the target of the Upstream \"careful\" at policies/a.yaml:4: calls to this URL go there [FB072]",
    "right": {
      "kind": "files",
      "files": {
        "policies/a.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: careful }\nspec: { target: https://payments.example.com }\n",
        "policies/b.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: hasty }\nspec: { target: https://payments.example.com/reports }\n"
      }
    }
  },
  {
    "code": "FB073",
    "severity": "warning",
    "title": "a slow call that no call can be",
    "meaning": "The attempt clock ends every attempt before it could count as slow.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { attempt: 2s }\nbreaker: { slowCall: { after: 3s } }\n"
    },
    "message": "policies/payments.yaml:7:33  spec.breaker.slowCall.after  warning: breaker.slowCall.after 3s is above timeouts.attempt 2s (policies/payments.yaml:6): no attempt lasts so long [FB073]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { attempt: 2s }\nbreaker: { slowCall: { after: 1s } }\n"
    }
  },
  {
    "code": "FB074",
    "severity": "warning",
    "title": "a setting of a mechanism that is off",
    "meaning": "The mechanism is off, or in a mode that has no use for the setting.",
    "wrong": {
      "kind": "spec",
      "text": "fault: { status: 503 }\n"
    },
    "message": "policies/payments.yaml:6:20  spec.fault.status  warning: fault.status 503 does nothing with fault.percent 0 (the default): say what share of the calls it shall hit, such as percent: 20 [FB074]",
    "right": {
      "kind": "spec",
      "text": "fault: { percent: 20, status: 503 }\n"
    }
  },
  {
    "code": "FB075",
    "severity": "error",
    "title": "an upstream that calls itself",
    "meaning": "The target is the address that the upstream itself listens on: each call would come back, with retries on top, until something gives.",
    "wrong": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec:\n  target: http://127.0.0.1:15101\n  listen: 127.0.0.1:15101\n"
      }
    },
    "message": "policies/payments.yaml:5:11  spec.target  the upstream calls itself: \"http://127.0.0.1:15101\" is its own spec.listen 127.0.0.1:15101; write where the service is [FB075]",
    "right": {
      "kind": "files",
      "files": {
        "policies/payments.yaml": "apiVersion: forbear.dev/v1alpha1\nkind: Upstream\nmetadata: { name: payments }\nspec:\n  target: http://127.0.0.1:8080\n  listen: 127.0.0.1:15101\n"
      }
    }
  },
  {
    "code": "FB076",
    "severity": "warning",
    "title": "a backoff above the total",
    "meaning": "The first wait may already be longer than the whole request may take. A retry whose wait does not fit is not made.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { total: 5s }\nretry: { backoff: { base: 10s } }\n"
    },
    "message": "policies/payments.yaml:7:29  spec.retry.backoff.base  warning: retry.backoff.base 10s is above timeouts.total 5s (policies/payments.yaml:6): a retry whose wait does not fit is not made [FB076]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { total: 5s }\nretry: { backoff: { base: 200ms } }\n"
    }
  },
  {
    "code": "FB077",
    "severity": "warning",
    "title": "retries without a wait",
    "meaning": "All waits follow from the base, so that with 0ms all attempts are sent in a burst, to an upstream that has just failed. Only the budget holds them back.",
    "wrong": {
      "kind": "spec",
      "text": "retry: { maxAttempts: 4, backoff: { base: 0ms, jitter: none } }\n"
    },
    "message": "policies/payments.yaml:6:45  spec.retry.backoff.base  warning: retry.backoff.base 0ms with retry.maxAttempts 4 (policies/payments.yaml:6): no retry waits at all, whatever the jitter; one at once may do, more need a base such as 200ms [FB077]",
    "right": {
      "kind": "spec",
      "text": "retry: { maxAttempts: 4, backoff: { base: 200ms } }\n"
    }
  },
  {
    "code": "FB078",
    "severity": "warning",
    "title": "a factor that nothing grows by",
    "meaning": "Only an exponential wait grows by the factor; a fixed one does not grow, a linear one grows by its base.",
    "wrong": {
      "kind": "spec",
      "text": "retry: { backoff: { kind: fixed, factor: 3 } }\n"
    },
    "message": "policies/payments.yaml:6:44  spec.retry.backoff.factor  warning: retry.backoff.factor 3 does nothing with retry.backoff.kind fixed (policies/payments.yaml:6): only an exponential wait grows by a factor [FB078]",
    "right": {
      "kind": "spec",
      "text": "retry: { backoff: { kind: exponential, factor: 3 } }\n"
    }
  },
  {
    "code": "FB079",
    "severity": "warning",
    "title": "calls whose body is too large to wait",
    "meaning": "A call that has to wait (for a free slot, a breaker or a gate) keeps its body meanwhile. A body up to maxBody is kept for a retry, but one above maxWaitingBytes never finds room to wait.",
    "wrong": {
      "kind": "spec",
      "text": "limits: { maxWaitingBytes: 1KiB }\n"
    },
    "message": "policies/payments.yaml:6:30  spec.limits.maxWaitingBytes  warning: limits.maxWaitingBytes 1KiB is below retry.maxBody 64KiB (the default): a call with so large a body is refused where a smaller one waits [FB079]",
    "right": {
      "kind": "spec",
      "text": "limits: { maxWaitingBytes: 1MiB }\n"
    }
  },
  {
    "code": "FB081",
    "severity": "error",
    "title": "a fault that both answers and breaks off",
    "meaning": "A rehearsed call either gets an answer with the status or its connection breaks.",
    "wrong": {
      "kind": "spec",
      "text": "fault: { percent: 20, status: 503, abort: true }\n"
    },
    "message": "policies/payments.yaml:6:45  spec.fault.abort  fault.abort true beside fault.status 503 (policies/payments.yaml:6): a call that is broken off gets no status; keep one of the two [FB081]",
    "right": {
      "kind": "spec",
      "text": "fault: { percent: 20, status: 503 }\n"
    }
  },
  {
    "code": "FB080",
    "severity": "warning",
    "title": "a throttle that forgets calls before they fail",
    "meaning": "The throttle compares what was sent with what was accepted. A failure that comes after the window has passed is held against a moment that is no longer looked at.",
    "wrong": {
      "kind": "spec",
      "text": "throttle: { mode: enabled, window: 10s }\n"
    },
    "message": "policies/payments.yaml:6:38  spec.throttle.window  warning: throttle.window 10s is below timeouts.total 30s (the default): a call may be forgotten before it has failed [FB080]",
    "right": {
      "kind": "spec",
      "text": "throttle: { mode: enabled, window: 30s }\n"
    }
  },
  {
    "code": "FB082",
    "severity": "error",
    "title": "a fallback with two bodies",
    "meaning": "The body of the answer is either written in the policy or read from the file.",
    "wrong": {
      "kind": "spec",
      "text": "fallback: { when: [breaker-open], body: sorry, file: /etc/forbear/sorry.txt }\n"
    },
    "message": "policies/payments.yaml:6:56  spec.fallback.file  fallback.file /etc/forbear/sorry.txt beside fallback.body: an answer has one body; keep one of the two [FB082]",
    "right": {
      "kind": "spec",
      "text": "fallback: { when: [breaker-open], file: /etc/forbear/sorry.txt }\n"
    }
  },
  {
    "code": "FB083",
    "severity": "warning",
    "title": "a fallback that says a write was done",
    "meaning": "An answer that says yes to a write which never reached the upstream loses what the app believes to be saved.",
    "wrong": {
      "kind": "spec",
      "text": "fallback: { when: [breaker-open], methods: [GET, POST], body: ok }\n"
    },
    "message": "policies/payments.yaml:6:46  spec.fallback.methods  warning: fallback.methods [GET, POST] with fallback.status 200 (the default): the app is told that its POST was done; only you can know that this is right [FB083]",
    "right": {
      "kind": "spec",
      "text": "fallback: { when: [breaker-open], methods: [GET], body: ok }\n"
    }
  },
  {
    "code": "FB085",
    "severity": "error",
    "title": "a poll that does not say until when",
    "meaning": "A poll repeats a call until something holds. Without a condition it would never be done.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - name: job\n    match: { methods: [GET], path: \"/jobs/{id}\" }\n    poll: { until: {} }\n"
    },
    "message": "policies/payments.yaml:9:15  spec.routes[0].poll.until  until says nothing: write when the poll is done, such as { status: [200] } [FB085]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - name: job\n    match: { methods: [GET], path: \"/jobs/{id}\" }\n    poll: { until: { status: [200] } }\n"
    }
  },
  {
    "code": "FB086",
    "severity": "warning",
    "title": "a poll of calls that are never polled",
    "meaning": "Only a GET, or a HEAD whose status alone tells, is repeated until its answer is the one that is waited for. What starts a job is called once; what tells how far it is, is polled.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - name: job\n    match: { methods: [POST], path: /jobs }\n    poll: { until: { status: [200] } }\n"
    },
    "message": "policies/payments.yaml:9:7  spec.routes[0].poll  warning: poll does nothing for POST: only a GET or HEAD is polled [FB086]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - name: job\n    match: { methods: [GET], path: \"/jobs/{id}\" }\n    poll: { until: { status: [200] } }\n"
    }
  },
  {
    "code": "FB087",
    "severity": "error",
    "title": "a poll beside a long poll",
    "meaning": "A long poll is answered when there is something to say, a poll asks again and again. Of one route either the upstream waits or forbear does.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - name: job\n    match: { methods: [GET], path: \"/jobs/{id}\" }\n    longPoll: true\n    poll: { until: { status: [200] } }\n"
    },
    "message": "policies/payments.yaml:10:7  spec.routes[0].poll  poll and longPoll exclude each other: an upstream that answers when it has something to say need not be asked again [FB087]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - name: job\n    match: { methods: [GET], path: \"/jobs/{id}\" }\n    poll: { until: { status: [200] } }\n"
    }
  },
  {
    "code": "FB088",
    "severity": "warning",
    "title": "a poll that ends before its first repeat",
    "meaning": "The first wait is half of the base or more. When the time is up before, the call is made once and never again.",
    "wrong": {
      "kind": "spec",
      "text": "routes:\n  - name: job\n    match: { methods: [GET], path: \"/jobs/{id}\" }\n    poll: { until: { status: [200] }, maxWait: 10s, backoff: { base: 30s } }\n"
    },
    "message": "policies/payments.yaml:9:50  spec.routes[0].poll.maxWait  warning: poll.maxWait 10s is below poll.backoff.base 30s (policies/payments.yaml:9): the polling is over before its first repeat [FB088]",
    "right": {
      "kind": "spec",
      "text": "routes:\n  - name: job\n    match: { methods: [GET], path: \"/jobs/{id}\" }\n    poll: { until: { status: [200] }, maxWait: 10m, backoff: { base: 30s } }\n"
    }
  },
  {
    "code": "FB090",
    "severity": "error",
    "title": "a hedge later than the end of the attempt",
    "meaning": "The attempt is over by its own clock, or that of the request, before a hedge would be sent beside it. After a failed attempt retries follow, not hedges.",
    "wrong": {
      "kind": "spec",
      "text": "timeouts: { attempt: 300ms }\nhedge: { after: 500ms }\n"
    },
    "message": "policies/payments.yaml:7:19  spec.hedge.after  hedge.after 500ms is not before timeouts.attempt 300ms (policies/payments.yaml:6), which ends the attempt: no hedge is ever sent [FB090]",
    "right": {
      "kind": "spec",
      "text": "timeouts: { attempt: 300ms }\nhedge: { after: 50ms }\n"
    }
  },
  {
    "code": "FB091",
    "severity": "warning",
    "title": "hedges beside attempts that may not be two",
    "meaning": "A hedge counts as one of retry.maxAttempts, which leaves no room for it.",
    "wrong": {
      "kind": "spec",
      "text": "retry: { maxAttempts: 1 }\nhedge: { after: 50ms }\n"
    },
    "message": "policies/payments.yaml:7:10  spec.hedge  warning: hedge.mode enabled with retry.maxAttempts 1 (policies/payments.yaml:6): a hedge is an attempt, so none is sent; write retry.maxAttempts: 2 [FB091]",
    "right": {
      "kind": "spec",
      "text": "retry: { maxAttempts: 2 }\nhedge: { after: 50ms }\n"
    }
  },
  {
    "code": "FB092",
    "severity": "error",
    "title": "hedges without a budget",
    "meaning": "Hedges may use half of the budget, so that late answers leave something for failures. Half of this one is less than one.",
    "wrong": {
      "kind": "spec",
      "text": "budget: { ratio: 0, minPerSecond: 0.15 }\nhedge: { after: 50ms }\n"
    },
    "message": "policies/payments.yaml:7:10  spec.hedge  hedge.mode enabled: half of budget.ratio 0 (policies/payments.yaml:6) and budget.minPerSecond 0.15 (policies/payments.yaml:6) over budget.window 10s (the default) is less than one hedge: none is ever granted [FB092]",
    "right": {
      "kind": "spec",
      "text": "budget: { ratio: 0.1 }\nhedge: { after: 50ms }\n"
    }
  },
  {
    "code": "FB093",
    "severity": "error",
    "title": "a hedge whose floor is above its ceiling",
    "meaning": "The earliest time of a hedge is after its latest.",
    "wrong": {
      "kind": "spec",
      "text": "hedge: { after: p95, floor: 100ms, ceiling: 50ms }\n"
    },
    "message": "policies/payments.yaml:6:31  spec.hedge.floor  hedge.floor 100ms is above hedge.ceiling 50ms (policies/payments.yaml:6) [FB093]",
    "right": {
      "kind": "spec",
      "text": "hedge: { after: p95, floor: 50ms, ceiling: 100ms }\n"
    }
  },
  {
    "code": "FB094",
    "severity": "warning",
    "title": "bounds of a quantile beside a fixed time",
    "meaning": "A fixed time needs no samples and no bounds.",
    "wrong": {
      "kind": "spec",
      "text": "hedge: { after: 50ms, minSamples: 500 }\n"
    },
    "message": "policies/payments.yaml:6:37  spec.hedge.minSamples  warning: hedge.minSamples 500 does nothing with hedge.after 50ms (policies/payments.yaml:6): only a quantile such as p95 is bounded by it [FB094]",
    "right": {
      "kind": "spec",
      "text": "hedge: { after: p95, minSamples: 500 }\n"
    }
  },
  {
    "code": "FB095",
    "severity": "warning",
    "title": "hedges of a long poll",
    "meaning": "The upstream of a long poll answers when it has something to say, so no answer of it is late.",
    "wrong": {
      "kind": "spec",
      "text": "routes: [{ name: events, match: { path: /events }, longPoll: true, hedge: { after: 50ms } }]\n"
    },
    "message": "policies/payments.yaml:6:70  spec.routes[0].hedge  warning: hedge does nothing on a route with longPoll: how late is late is not known [FB095]",
    "right": {
      "kind": "spec",
      "text": "routes: [{ name: events, match: { path: /events }, longPoll: true }]\n"
    }
  },
  {
    "code": "FB096",
    "severity": "warning",
    "title": "hedges of calls that are never hedged",
    "meaning": "An upstream may be at two hedged calls at the same time, so only calls that change nothing are hedged, and writes with an idempotency key where the policy says that the upstream can bear two of them at once.",
    "wrong": {
      "kind": "spec",
      "text": "routes: [{ name: pay, match: { methods: [POST] }, hedge: { after: 50ms } }]\n"
    },
    "message": "policies/payments.yaml:6:53  spec.routes[0].hedge  warning: hedge does nothing for POST: only GET, HEAD and OPTIONS are hedged; for writes with an idempotency key, write hedge.keyedWrites: true [FB096]",
    "right": {
      "kind": "spec",
      "text": "routes: [{ name: read, match: { methods: [GET] }, hedge: { after: 50ms } }]\n"
    }
  },
  {
    "code": "FB097",
    "severity": "warning",
    "title": "a first redelivery later than the others",
    "meaning": "Redeliveries of a parked call come at waits that double from `first` up to `every`. With `first` above `every` each wait is as long as `every`, the first included.",
    "wrong": {
      "kind": "spec",
      "text": "park: { store: /var/lib/forbear, first: 2h }\n"
    },
    "message": "policies/payments.yaml:6:43  spec.park.first  warning: park.first 2h is above park.every 1h (the default): waits double from the first up to the other, so none doubles [FB097]",
    "right": {
      "kind": "spec",
      "text": "park: { store: /var/lib/forbear, first: 2h, every: 4h }\n"
    }
  },
  {
    "code": "FB098",
    "severity": "warning",
    "title": "parking that can hardly redeliver",
    "meaning": "A parked call is given up with the first failed redelivery after `maxAge`. When that is not above `first`, this is the first redelivery.",
    "wrong": {
      "kind": "spec",
      "text": "park: { store: /var/lib/forbear, maxAge: 30s }\n"
    },
    "message": "policies/payments.yaml:6:44  spec.park.maxAge  warning: park.first 1m (the default) is not below park.maxAge 30s: an entry is sent again once and then given up [FB098]",
    "right": {
      "kind": "spec",
      "text": "park: { store: /var/lib/forbear, maxAge: 6h }\n"
    }
  }
]
