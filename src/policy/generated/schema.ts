/** Generated from schemas/ by `npm run generate`. Do not edit. */
import type { JsonSchema } from '../json-schema.js'

/** The one for editors, of both kinds. */
export const SCHEMA: JsonSchema = {
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "forbear",
  "description": "A document of a policy set: an Upstream or a Policy.",
  "type": "object",
  "required": [
    "kind"
  ],
  "properties": {
    "apiVersion": {
      "$ref": "#/$defs/apiVersion"
    },
    "kind": {
      "description": "What this document is.",
      "enum": [
        "Upstream",
        "Policy"
      ],
      "enumDescriptions": [
        "A service that the app calls, and how to behave when it misbehaves.",
        "Settings by name. The Policy called `default` applies to every Upstream, any other to those that name it in `policyRef`."
      ]
    }
  },
  "if": {
    "required": [
      "kind"
    ],
    "properties": {
      "kind": {
        "const": "Upstream"
      }
    }
  },
  "then": {
    "$ref": "#/$defs/Upstream"
  },
  "else": {
    "if": {
      "required": [
        "kind"
      ],
      "properties": {
        "kind": {
          "const": "Policy"
        }
      }
    },
    "then": {
      "$ref": "#/$defs/Policy"
    }
  },
  "$defs": {
    "Upstream": {
      "title": "UpstreamDocument",
      "description": "A service that the app calls, and how to behave when it misbehaves.",
      "type": "object",
      "required": [
        "apiVersion",
        "kind",
        "metadata",
        "spec"
      ],
      "additionalProperties": false,
      "patternProperties": {
        "^x-": true
      },
      "properties": {
        "apiVersion": {
          "$ref": "#/$defs/apiVersion"
        },
        "kind": {
          "description": "What this document is.",
          "const": "Upstream",
          "examples": [
            "Upstream"
          ],
          "markdownDescription": "What this document is."
        },
        "metadata": {
          "$ref": "#/$defs/metadata"
        },
        "spec": {
          "title": "UpstreamSpec",
          "description": "Where the service is and how to treat it.",
          "type": "object",
          "required": [
            "target"
          ],
          "additionalProperties": false,
          "properties": {
            "target": {
              "description": "Where calls go: http or https, host, optional port, optional base path that is put before every path; or a unix socket, as nginx writes it: the file after `unix:`, and after a second colon the base path.",
              "type": "string",
              "pattern": "^https?://(unix:[^?#\\s]*|(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\\.?)(:[0-9]{1,5})?(/[^?#\\s]*)?)$",
              "maxLength": 2000,
              "x-allowed": "http:// or https://, a host, optionally a port and a base path; no user name, query or fragment",
              "examples": [
                "https://payments.example.com/base",
                "http://unix:/run/app.sock:/base"
              ],
              "markdownDescription": "Where calls go: http or https, host, optional port, optional base path that is put before every path; or a unix socket, as nginx writes it: the file after `unix:`, and after a second colon the base path.\n\nAllowed: http:// or https://, a host, optionally a port and a base path; no user name, query or fragment.",
              "patternErrorMessage": "Not allowed here; write http:// or https://, a host, optionally a port and a base path; no user name, query or fragment."
            },
            "policyRef": {
              "description": "Name of the Policy whose settings apply before the ones written here.",
              "type": "string",
              "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
              "x-allowed": "the name of a Policy",
              "examples": [
                "careful"
              ],
              "markdownDescription": "Name of the Policy whose settings apply before the ones written here.\n\nAllowed: the name of a Policy.",
              "patternErrorMessage": "Not allowed here; write the name of a Policy."
            },
            "listen": {
              "description": "An own port for this upstream, on which every call is meant for it.",
              "type": "string",
              "pattern": "^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?):[0-9]{1,5}$",
              "maxLength": 300,
              "x-allowed": "host:port",
              "examples": [
                "127.0.0.1:15101"
              ],
              "markdownDescription": "An own port for this upstream, on which every call is meant for it.\n\nAllowed: host:port.",
              "patternErrorMessage": "Not allowed here; write host:port."
            },
            "match": {
              "title": "UpstreamMatch",
              "description": "How calls on the shared port find this upstream.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "hosts": {
                  "description": "Host names (without a port) that mean this upstream.",
                  "type": "array",
                  "maxItems": 100,
                  "items": {
                    "type": "string",
                    "pattern": "^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?)$",
                    "maxLength": 253,
                    "x-allowed": "a host name without scheme and port",
                    "examples": [
                      "payments.internal"
                    ],
                    "patternErrorMessage": "Not allowed here; write a host name without scheme and port."
                  },
                  "default": [],
                  "examples": [
                    [
                      "payments.internal"
                    ]
                  ],
                  "markdownDescription": "Host names (without a port) that mean this upstream.\n\nAllowed: list; each: a host name without scheme and port.\n\nDefault: []."
                },
                "pathPrefix": {
                  "description": "Paths under this prefix mean this upstream; the prefix is stripped. It ends at a segment boundary.",
                  "type": "string",
                  "pattern": "^/$|^(/[^/?#{}\\s]+)+/?$",
                  "maxLength": 1000,
                  "x-allowed": "a path that begins with /",
                  "x-default": "/<name>",
                  "examples": [
                    "/payments"
                  ],
                  "markdownDescription": "Paths under this prefix mean this upstream; the prefix is stripped. It ends at a segment boundary.\n\nAllowed: a path that begins with /.\n\nDefault: /<name>.",
                  "patternErrorMessage": "Not allowed here; write a path that begins with /."
                }
              }
            },
            "hostHeader": {
              "description": "`target` sends the target's host, `preserve` the one that the app sent.",
              "enum": [
                "target",
                "preserve"
              ],
              "enumDescriptions": [
                "the target's host",
                "the one that the app sent"
              ],
              "default": "target",
              "examples": [
                "target"
              ],
              "markdownDescription": "`target` sends the target's host, `preserve` the one that the app sent.\n\nDefault: target."
            },
            "tls": {
              "title": "Tls",
              "description": "For https targets. The files are read again when they change, for new connections within 10 s; files that cannot be used leave the last good ones in force.",
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "caFile": {
                  "description": "Certificate authorities (PEM) in place of the system's.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 4096,
                  "examples": [
                    "/etc/forbear/tls/ca.pem"
                  ],
                  "markdownDescription": "Certificate authorities (PEM) in place of the system's.\n\nAllowed: text."
                },
                "certFile": {
                  "description": "Client certificate (PEM).",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 4096,
                  "examples": [
                    "/etc/forbear/tls/tls.crt"
                  ],
                  "markdownDescription": "Client certificate (PEM).\n\nAllowed: text."
                },
                "keyFile": {
                  "description": "Key (PEM) of the client certificate.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 4096,
                  "examples": [
                    "/etc/forbear/tls/tls.key"
                  ],
                  "markdownDescription": "Key (PEM) of the client certificate.\n\nAllowed: text."
                },
                "serverName": {
                  "description": "Name to ask for and to check, in place of the target's host.",
                  "type": "string",
                  "minLength": 1,
                  "maxLength": 253,
                  "examples": [
                    "payments.example.com"
                  ],
                  "markdownDescription": "Name to ask for and to check, in place of the target's host.\n\nAllowed: text."
                }
              }
            },
            "timeouts": {
              "$ref": "#/$defs/timeouts"
            },
            "retry": {
              "$ref": "#/$defs/retry"
            },
            "budget": {
              "$ref": "#/$defs/budget"
            },
            "breaker": {
              "$ref": "#/$defs/breaker"
            },
            "pace": {
              "$ref": "#/$defs/pace"
            },
            "throttle": {
              "$ref": "#/$defs/throttle"
            },
            "fault": {
              "$ref": "#/$defs/fault"
            },
            "fallback": {
              "$ref": "#/$defs/fallback"
            },
            "park": {
              "$ref": "#/$defs/park"
            },
            "limits": {
              "$ref": "#/$defs/limits"
            },
            "hedge": {
              "$ref": "#/$defs/hedge"
            },
            "pool": {
              "$ref": "#/$defs/pool"
            },
            "propagate": {
              "$ref": "#/$defs/propagate"
            },
            "routes": {
              "description": "Settings for some of the calls; the first route that matches applies.",
              "type": "array",
              "maxItems": 1000,
              "items": {
                "$ref": "#/$defs/route"
              },
              "examples": [
                [
                  {
                    "name": "place-order",
                    "match": {
                      "methods": [
                        "POST"
                      ],
                      "path": "/v1/orders"
                    }
                  }
                ]
              ],
              "markdownDescription": "Settings for some of the calls; the first route that matches applies.\n\nAllowed: list; each: text."
            }
          }
        }
      },
      "examples": [
        {
          "apiVersion": "forbear.dev/v1alpha1",
          "kind": "Upstream",
          "metadata": {
            "name": "payments"
          },
          "spec": {
            "target": "https://payments.example.com"
          }
        }
      ]
    },
    "Policy": {
      "title": "PolicyDocument",
      "description": "Settings by name. The Policy called `default` applies to every Upstream, any other to those that name it in `policyRef`.",
      "type": "object",
      "required": [
        "apiVersion",
        "kind",
        "metadata",
        "spec"
      ],
      "additionalProperties": false,
      "patternProperties": {
        "^x-": true
      },
      "properties": {
        "apiVersion": {
          "$ref": "#/$defs/apiVersion"
        },
        "kind": {
          "description": "What this document is.",
          "const": "Policy",
          "examples": [
            "Policy"
          ],
          "markdownDescription": "What this document is."
        },
        "metadata": {
          "$ref": "#/$defs/metadata"
        },
        "spec": {
          "title": "PolicySpec",
          "description": "The settings.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "timeouts": {
              "$ref": "#/$defs/timeouts"
            },
            "retry": {
              "$ref": "#/$defs/retry"
            },
            "budget": {
              "$ref": "#/$defs/budget"
            },
            "breaker": {
              "$ref": "#/$defs/breaker"
            },
            "pace": {
              "$ref": "#/$defs/pace"
            },
            "throttle": {
              "$ref": "#/$defs/throttle"
            },
            "fault": {
              "$ref": "#/$defs/fault"
            },
            "fallback": {
              "$ref": "#/$defs/fallback"
            },
            "park": {
              "$ref": "#/$defs/park"
            },
            "limits": {
              "$ref": "#/$defs/limits"
            },
            "hedge": {
              "$ref": "#/$defs/hedge"
            },
            "pool": {
              "$ref": "#/$defs/pool"
            },
            "propagate": {
              "$ref": "#/$defs/propagate"
            }
          }
        }
      },
      "examples": [
        {
          "apiVersion": "forbear.dev/v1alpha1",
          "kind": "Policy",
          "metadata": {
            "name": "careful"
          },
          "spec": {
            "retry": {
              "maxAttempts": 2
            }
          }
        }
      ]
    },
    "route": {
      "title": "Route",
      "description": "Calls with their own settings.",
      "type": "object",
      "required": [
        "name",
        "match"
      ],
      "additionalProperties": false,
      "properties": {
        "name": {
          "description": "Unique within the upstream. It becomes the metric label.",
          "type": "string",
          "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
          "x-allowed": "1 to 63 lower-case letters, digits and hyphens, a letter or digit at both ends",
          "examples": [
            "place-order"
          ],
          "markdownDescription": "Unique within the upstream. It becomes the metric label.\n\nAllowed: 1 to 63 lower-case letters, digits and hyphens, a letter or digit at both ends.",
          "patternErrorMessage": "Not allowed here; write 1 to 63 lower-case letters, digits and hyphens, a letter or digit at both ends."
        },
        "match": {
          "title": "RouteMatch",
          "description": "Which calls; all that is written must match, `{}` matches every call. Paths as the upstream sees them: shared prefix stripped, base path of the target not counted, without the query.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "methods": {
              "description": "Any of these methods.",
              "type": "array",
              "minItems": 1,
              "maxItems": 50,
              "uniqueItems": true,
              "items": {
                "type": "string",
                "pattern": "^[A-Z][A-Z0-9_-]{0,30}$",
                "x-words": [
                  "GET",
                  "HEAD",
                  "POST",
                  "PUT",
                  "PATCH",
                  "DELETE",
                  "OPTIONS",
                  "TRACE"
                ],
                "x-allowed": "a method in capitals",
                "examples": [
                  "GET",
                  "HEAD",
                  "POST",
                  "PUT",
                  "PATCH",
                  "DELETE",
                  "OPTIONS",
                  "TRACE"
                ],
                "patternErrorMessage": "Not allowed here; write a method in capitals."
              },
              "examples": [
                [
                  "POST"
                ]
              ],
              "markdownDescription": "Any of these methods.\n\nAllowed: list; each: a method in capitals."
            },
            "path": {
              "description": "Exactly this path; `{name}` stands for one segment.",
              "type": "string",
              "pattern": "^(/([^/?#{}\\s]*|\\{[A-Za-z_][A-Za-z0-9_-]*\\}))+$",
              "maxLength": 1000,
              "x-allowed": "a path that begins with /, with {name} for a whole segment",
              "examples": [
                "/v1/orders/{id}"
              ],
              "markdownDescription": "Exactly this path; `{name}` stands for one segment.\n\nAllowed: a path that begins with /, with {name} for a whole segment.",
              "patternErrorMessage": "Not allowed here; write a path that begins with /, with {name} for a whole segment."
            },
            "pathPrefix": {
              "description": "Every path under this one; it ends at a segment boundary.",
              "type": "string",
              "pattern": "^/$|^(/[^/?#{}\\s]+)+/?$",
              "maxLength": 1000,
              "x-allowed": "a path that begins with /",
              "examples": [
                "/v1"
              ],
              "markdownDescription": "Every path under this one; it ends at a segment boundary.\n\nAllowed: a path that begins with /.",
              "patternErrorMessage": "Not allowed here; write a path that begins with /."
            },
            "headers": {
              "description": "Request headers with exactly these values.",
              "type": "object",
              "maxProperties": 20,
              "propertyNames": {
                "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
                "x-allowed": "a header name",
                "patternErrorMessage": "Not allowed here; write a header name."
              },
              "additionalProperties": {
                "type": "string",
                "maxLength": 1000
              },
              "examples": [
                {
                  "x-tenant": "gold"
                }
              ],
              "markdownDescription": "Request headers with exactly these values.\n\nAllowed: mapping of text to text."
            }
          }
        },
        "longPoll": {
          "description": "The upstream answers when it has something to say: no attempt clock, never a probe, a hedge or a latency sample.",
          "type": "boolean",
          "default": false,
          "examples": [
            true
          ],
          "markdownDescription": "The upstream answers when it has something to say: no attempt clock, never a probe, a hedge or a latency sample.\n\nAllowed: `true`, `false`.\n\nDefault: false."
        },
        "timeouts": {
          "$ref": "#/$defs/timeouts"
        },
        "retry": {
          "$ref": "#/$defs/retry"
        },
        "budget": {
          "$ref": "#/$defs/budget"
        },
        "breaker": {
          "$ref": "#/$defs/breaker"
        },
        "pace": {
          "$ref": "#/$defs/pace"
        },
        "throttle": {
          "$ref": "#/$defs/throttle"
        },
        "poll": {
          "$ref": "#/$defs/poll"
        },
        "fault": {
          "$ref": "#/$defs/fault"
        },
        "fallback": {
          "$ref": "#/$defs/fallback"
        },
        "park": {
          "$ref": "#/$defs/park"
        },
        "limits": {
          "$ref": "#/$defs/limits"
        },
        "hedge": {
          "$ref": "#/$defs/hedge"
        }
      }
    },
    "apiVersion": {
      "description": "Version of this format.",
      "const": "forbear.dev/v1alpha1",
      "examples": [
        "forbear.dev/v1alpha1"
      ],
      "markdownDescription": "Version of this format."
    },
    "metadata": {
      "title": "Metadata",
      "description": "Who this document is.",
      "type": "object",
      "required": [
        "name"
      ],
      "additionalProperties": false,
      "properties": {
        "name": {
          "description": "A DNS-1123 label, unique among documents of its kind. It becomes the metric label.",
          "type": "string",
          "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
          "x-allowed": "1 to 63 lower-case letters, digits and hyphens, a letter or digit at both ends",
          "examples": [
            "payments"
          ],
          "markdownDescription": "A DNS-1123 label, unique among documents of its kind. It becomes the metric label.\n\nAllowed: 1 to 63 lower-case letters, digits and hyphens, a letter or digit at both ends.",
          "patternErrorMessage": "Not allowed here; write 1 to 63 lower-case letters, digits and hyphens, a letter or digit at both ends."
        },
        "labels": {
          "description": "Text by name, for your own use.",
          "type": "object",
          "additionalProperties": {
            "type": "string"
          },
          "examples": [
            {
              "team": "checkout"
            }
          ],
          "markdownDescription": "Text by name, for your own use.\n\nAllowed: mapping of text to text."
        },
        "annotations": {
          "description": "Text by name, for your own use.",
          "type": "object",
          "additionalProperties": {
            "type": "string"
          },
          "examples": [
            {
              "runbook": "https://wiki.example.com/payments"
            }
          ],
          "markdownDescription": "Text by name, for your own use.\n\nAllowed: mapping of text to text."
        }
      }
    },
    "timeouts": {
      "title": "Timeouts",
      "description": "Clocks of one request. Each is a duration or `none`.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "connect": {
          "description": "Opening a connection: DNS, socket and TLS handshake.",
          "type": "string",
          "pattern": "^(none|(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?)$",
          "x-format": "duration-or-none",
          "x-min": "1ms",
          "x-max": "10m",
          "default": "3s",
          "examples": [
            "3s",
            "500ms"
          ],
          "markdownDescription": "Opening a connection: DNS, socket and TLS handshake.\n\nAllowed: duration 1ms to 10m, or `none`.\n\nDefault: 3s.",
          "patternErrorMessage": "Not allowed here; write duration 1ms to 10m, or `none`."
        },
        "attempt": {
          "description": "One attempt: from the end of the request body to the response head. Not the pause between attempts. Without it, one attempt may take the whole of `total`.",
          "type": "string",
          "pattern": "^(none|(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?)$",
          "x-format": "duration-or-none",
          "x-min": "1ms",
          "x-max": "24h",
          "x-default": "the value of `total`",
          "examples": [
            "5s"
          ],
          "markdownDescription": "One attempt: from the end of the request body to the response head. Not the pause between attempts. Without it, one attempt may take the whole of `total`.\n\nAllowed: duration 1ms to 24h, or `none`.\n\nDefault: the value of `total`.",
          "patternErrorMessage": "Not allowed here; write duration 1ms to 24h, or `none`."
        },
        "total": {
          "description": "The whole request: from the end of its body to the accepted response head, all attempts and waits included. A body that streams is never cut by it.",
          "type": "string",
          "pattern": "^(none|(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?)$",
          "x-format": "duration-or-none",
          "x-min": "1ms",
          "x-max": "24h",
          "default": "30s",
          "examples": [
            "30s",
            "1m30s"
          ],
          "markdownDescription": "The whole request: from the end of its body to the accepted response head, all attempts and waits included. A body that streams is never cut by it.\n\nAllowed: duration 1ms to 24h, or `none`.\n\nDefault: 30s.",
          "patternErrorMessage": "Not allowed here; write duration 1ms to 24h, or `none`."
        },
        "idle": {
          "description": "Longest gap between two body bytes, in either direction.",
          "type": "string",
          "pattern": "^(none|(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?)$",
          "x-format": "duration-or-none",
          "x-min": "1ms",
          "x-max": "24h",
          "default": "60s",
          "examples": [
            "60s"
          ],
          "markdownDescription": "Longest gap between two body bytes, in either direction.\n\nAllowed: duration 1ms to 24h, or `none`.\n\nDefault: 60s.",
          "patternErrorMessage": "Not allowed here; write duration 1ms to 24h, or `none`."
        },
        "response": {
          "description": "The whole response, head and body, from the end of the request body.",
          "type": "string",
          "pattern": "^(none|(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?)$",
          "x-format": "duration-or-none",
          "x-min": "1ms",
          "x-max": "24h",
          "default": "none",
          "examples": [
            "2m",
            "none"
          ],
          "markdownDescription": "The whole response, head and body, from the end of the request body.\n\nAllowed: duration 1ms to 24h, or `none`.\n\nDefault: none.",
          "patternErrorMessage": "Not allowed here; write duration 1ms to 24h, or `none`."
        }
      }
    },
    "jitter": {
      "description": "How a delay v is spread: `none`; `full` = 0 to v; `equal` = v/2 to v; `decorrelated` = base to three times the previous delay; or a range such as [0.8, 1.2] = 0.8 v to 1.2 v.",
      "type": [
        "string",
        "array"
      ],
      "pattern": "^(none|full|equal|decorrelated)$",
      "x-words": [
        "none",
        "full",
        "equal",
        "decorrelated"
      ],
      "x-allowed": "none, full, equal, decorrelated, or a range such as [0.8, 1.2]",
      "items": {
        "type": "number",
        "minimum": 0,
        "maximum": 10
      },
      "minItems": 2,
      "maxItems": 2,
      "examples": [
        "full",
        "equal",
        "decorrelated",
        "none",
        [
          0.8,
          1.2
        ]
      ],
      "markdownDescription": "How a delay v is spread: `none`; `full` = 0 to v; `equal` = v/2 to v; `decorrelated` = base to three times the previous delay; or a range such as [0.8, 1.2] = 0.8 v to 1.2 v.\n\nAllowed: none, full, equal, decorrelated, or a range such as [0.8, 1.2].",
      "patternErrorMessage": "Not allowed here; write none, full, equal, decorrelated, or a range such as [0.8, 1.2]."
    },
    "backoff": {
      "title": "Backoff",
      "description": "The wait before retry n (1-based).",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "kind": {
          "description": "`exponential` = base × factor^(n−1); `linear` = base × n; `fixed` = base.",
          "enum": [
            "exponential",
            "linear",
            "fixed"
          ],
          "enumDescriptions": [
            "base × factor^(n−1) before retry n",
            "base × n before retry n",
            "base before every retry"
          ],
          "default": "exponential",
          "examples": [
            "exponential"
          ],
          "markdownDescription": "`exponential` = base × factor^(n−1); `linear` = base × n; `fixed` = base.\n\nDefault: exponential."
        },
        "base": {
          "description": "The first delay, before jitter.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "0ms",
          "x-max": "1h",
          "default": "200ms",
          "examples": [
            "200ms"
          ],
          "markdownDescription": "The first delay, before jitter.\n\nAllowed: duration 0ms to 1h.\n\nDefault: 200ms.",
          "patternErrorMessage": "Not allowed here; write duration 0ms to 1h."
        },
        "factor": {
          "description": "Growth from one delay to the next, `exponential` only.",
          "type": "number",
          "minimum": 1,
          "maximum": 100,
          "default": 2,
          "examples": [
            2,
            1.5
          ],
          "markdownDescription": "Growth from one delay to the next, `exponential` only.\n\nAllowed: number 1 to 100.\n\nDefault: 2."
        },
        "cap": {
          "description": "Longest delay, before jitter.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "0ms",
          "x-max": "24h",
          "default": "30s",
          "examples": [
            "30s"
          ],
          "markdownDescription": "Longest delay, before jitter.\n\nAllowed: duration 0ms to 24h.\n\nDefault: 30s.",
          "patternErrorMessage": "Not allowed here; write duration 0ms to 24h."
        },
        "jitter": {
          "description": "How a delay v is spread: `none`; `full` = 0 to v; `equal` = v/2 to v; `decorrelated` = base to three times the previous delay; or a range such as [0.8, 1.2] = 0.8 v to 1.2 v.",
          "type": [
            "string",
            "array"
          ],
          "pattern": "^(none|full|equal|decorrelated)$",
          "x-words": [
            "none",
            "full",
            "equal",
            "decorrelated"
          ],
          "x-allowed": "none, full, equal, decorrelated, or a range such as [0.8, 1.2]",
          "items": {
            "type": "number",
            "minimum": 0,
            "maximum": 10
          },
          "minItems": 2,
          "maxItems": 2,
          "examples": [
            "full",
            "equal",
            "decorrelated",
            "none",
            [
              0.8,
              1.2
            ]
          ],
          "default": "full",
          "markdownDescription": "How a delay v is spread: `none`; `full` = 0 to v; `equal` = v/2 to v; `decorrelated` = base to three times the previous delay; or a range such as [0.8, 1.2] = 0.8 v to 1.2 v.\n\nAllowed: none, full, equal, decorrelated, or a range such as [0.8, 1.2].\n\nDefault: full.",
          "patternErrorMessage": "Not allowed here; write none, full, equal, decorrelated, or a range such as [0.8, 1.2]."
        }
      }
    },
    "throttledBackoff": {
      "title": "ThrottledBackoff",
      "description": "The wait after a 429, in place of `backoff`.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "kind": {
          "description": "As in `backoff`.",
          "enum": [
            "exponential",
            "linear",
            "fixed"
          ],
          "enumDescriptions": [
            "base × factor^(n−1) before retry n",
            "base × n before retry n",
            "base before every retry"
          ],
          "default": "exponential",
          "examples": [
            "exponential"
          ],
          "markdownDescription": "As in `backoff`.\n\nDefault: exponential."
        },
        "base": {
          "description": "The first delay, before jitter.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "0ms",
          "x-max": "1h",
          "default": "1s",
          "examples": [
            "1s"
          ],
          "markdownDescription": "The first delay, before jitter.\n\nAllowed: duration 0ms to 1h.\n\nDefault: 1s.",
          "patternErrorMessage": "Not allowed here; write duration 0ms to 1h."
        },
        "factor": {
          "description": "Growth from one delay to the next, `exponential` only.",
          "type": "number",
          "minimum": 1,
          "maximum": 100,
          "default": 2,
          "examples": [
            2
          ],
          "markdownDescription": "Growth from one delay to the next, `exponential` only.\n\nAllowed: number 1 to 100.\n\nDefault: 2."
        },
        "cap": {
          "description": "Longest delay, before jitter.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "0ms",
          "x-max": "24h",
          "default": "30s",
          "examples": [
            "30s"
          ],
          "markdownDescription": "Longest delay, before jitter.\n\nAllowed: duration 0ms to 24h.\n\nDefault: 30s.",
          "patternErrorMessage": "Not allowed here; write duration 0ms to 24h."
        },
        "jitter": {
          "description": "How a delay v is spread: `none`; `full` = 0 to v; `equal` = v/2 to v; `decorrelated` = base to three times the previous delay; or a range such as [0.8, 1.2] = 0.8 v to 1.2 v.",
          "type": [
            "string",
            "array"
          ],
          "pattern": "^(none|full|equal|decorrelated)$",
          "x-words": [
            "none",
            "full",
            "equal",
            "decorrelated"
          ],
          "x-allowed": "none, full, equal, decorrelated, or a range such as [0.8, 1.2]",
          "items": {
            "type": "number",
            "minimum": 0,
            "maximum": 10
          },
          "minItems": 2,
          "maxItems": 2,
          "examples": [
            "full",
            "equal",
            "decorrelated",
            "none",
            [
              0.8,
              1.2
            ]
          ],
          "default": "full",
          "markdownDescription": "How a delay v is spread: `none`; `full` = 0 to v; `equal` = v/2 to v; `decorrelated` = base to three times the previous delay; or a range such as [0.8, 1.2] = 0.8 v to 1.2 v.\n\nAllowed: none, full, equal, decorrelated, or a range such as [0.8, 1.2].\n\nDefault: full.",
          "patternErrorMessage": "Not allowed here; write none, full, equal, decorrelated, or a range such as [0.8, 1.2]."
        }
      }
    },
    "retry": {
      "title": "Retry",
      "description": "What is worth another attempt, and when it is made.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "maxAttempts": {
          "description": "Attempts in all, the first included: 1 turns retries off, 3 is three calls.",
          "type": "integer",
          "minimum": 1,
          "maximum": 50,
          "default": 5,
          "examples": [
            3
          ],
          "markdownDescription": "Attempts in all, the first included: 1 turns retries off, 3 is three calls.\n\nAllowed: whole number 1 to 50.\n\nDefault: 5."
        },
        "retryOn": {
          "description": "Failures and statuses that are worth another attempt. `connect` = nothing was sent; `reset` = sent, no response head; `timeout` = the attempt clock ran out. 500 is a bug rather than a blip, and 4xx other than 408, 425 and 429 answer the same next time.",
          "type": "array",
          "maxItems": 50,
          "uniqueItems": true,
          "items": {
            "type": [
              "string",
              "integer"
            ],
            "pattern": "^(connect|reset|timeout)$",
            "minimum": 400,
            "maximum": 599,
            "x-words": [
              "connect",
              "reset",
              "timeout"
            ],
            "x-allowed": "connect, reset, timeout, or a status from 400 to 599 without quotes",
            "examples": [
              "connect",
              "reset",
              "timeout",
              429,
              503
            ],
            "patternErrorMessage": "Not allowed here; write connect, reset, timeout, or a status from 400 to 599 without quotes."
          },
          "default": [
            "connect",
            "reset",
            "timeout",
            408,
            425,
            429,
            502,
            503,
            504
          ],
          "examples": [
            [
              "connect",
              503
            ]
          ],
          "markdownDescription": "Failures and statuses that are worth another attempt. `connect` = nothing was sent; `reset` = sent, no response head; `timeout` = the attempt clock ran out. 500 is a bug rather than a blip, and 4xx other than 408, 425 and 429 answer the same next time.\n\nAllowed: list; each: connect, reset, timeout, or a status from 400 to 599 without quotes.\n\nDefault: [connect,reset,timeout,408,425,429,502,503,504]."
        },
        "onHeaders": {
          "description": "Response headers that make an answer retryable: name to exact value, or `\"*\"` for any value.",
          "type": "object",
          "maxProperties": 20,
          "propertyNames": {
            "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
            "x-allowed": "a header name",
            "patternErrorMessage": "Not allowed here; write a header name."
          },
          "additionalProperties": {
            "type": "string",
            "maxLength": 1000
          },
          "default": {},
          "examples": [
            {
              "x-should-retry": "true"
            }
          ],
          "markdownDescription": "Response headers that make an answer retryable: name to exact value, or `\"*\"` for any value.\n\nAllowed: mapping of text to text.\n\nDefault: {}."
        },
        "backoff": {
          "$ref": "#/$defs/backoff"
        },
        "throttled": {
          "$ref": "#/$defs/throttledBackoff"
        },
        "retryAfter": {
          "title": "RetryAfter",
          "description": "What a `Retry-After` of the upstream does.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "cap": {
              "description": "A longer hint is neither waited for nor shortened: the answer is passed on.",
              "type": "string",
              "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
              "x-format": "duration",
              "x-min": "0ms",
              "x-max": "24h",
              "default": "30s",
              "examples": [
                "30s"
              ],
              "markdownDescription": "A longer hint is neither waited for nor shortened: the answer is passed on.\n\nAllowed: duration 0ms to 24h.\n\nDefault: 30s.",
              "patternErrorMessage": "Not allowed here; write duration 0ms to 24h."
            },
            "scope": {
              "description": "`request` = only the call that got the hint waits; `upstream` = hints may close the gate for every call of this upstream.",
              "enum": [
                "request",
                "upstream"
              ],
              "enumDescriptions": [
                "only the call that got the hint waits",
                "hints may close the gate for every call of this upstream"
              ],
              "default": "request",
              "examples": [
                "request"
              ],
              "markdownDescription": "`request` = only the call that got the hint waits; `upstream` = hints may close the gate for every call of this upstream.\n\nDefault: request."
            }
          }
        },
        "idempotency": {
          "title": "Idempotency",
          "description": "When a call that is not idempotent by its method may be repeated.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "keyHeaders": {
              "description": "A request that carries one of these headers may be repeated: the upstream knows it again.",
              "type": "array",
              "maxItems": 20,
              "uniqueItems": true,
              "items": {
                "type": "string",
                "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
                "x-allowed": "a header name",
                "examples": [
                  "Idempotency-Key"
                ],
                "patternErrorMessage": "Not allowed here; write a header name."
              },
              "default": [
                "Idempotency-Key"
              ],
              "examples": [
                [
                  "Idempotency-Key"
                ]
              ],
              "markdownDescription": "A request that carries one of these headers may be repeated: the upstream knows it again.\n\nAllowed: list; each: a header name.\n\nDefault: [Idempotency-Key]."
            },
            "generate": {
              "description": "Add a key, the same on all attempts, to requests that carry none. Only for upstreams that honour it.",
              "type": "boolean",
              "default": false,
              "examples": [
                true
              ],
              "markdownDescription": "Add a key, the same on all attempts, to requests that carry none. Only for upstreams that honour it.\n\nAllowed: `true`, `false`.\n\nDefault: false."
            }
          }
        },
        "maxBody": {
          "description": "Request bodies up to this size are kept for another attempt; a larger one streams on and is not repeated.",
          "type": "string",
          "pattern": "^[0-9]{1,15}(B|KiB|MiB|GiB)$",
          "x-format": "size",
          "x-min": "0B",
          "x-max": "64MiB",
          "default": "64KiB",
          "examples": [
            "64KiB",
            "1MiB"
          ],
          "markdownDescription": "Request bodies up to this size are kept for another attempt; a larger one streams on and is not repeated.\n\nAllowed: size 0B to 64MiB.\n\nDefault: 64KiB.",
          "patternErrorMessage": "Not allowed here; write size 0B to 64MiB."
        }
      }
    },
    "budget": {
      "title": "Budget",
      "description": "How many retries the upstream may be sent at all, over all requests. Retries in the window ≤ ratio × succeeded first attempts + minPerSecond × window; in any second ≤ ratio × the first attempts of that second, or minPerSecond × window if that is more, so that the allowance of a window is not spent at once. A route may only tighten it.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "ratio": {
          "description": "Retries per first attempt that succeeded.",
          "type": "number",
          "minimum": 0,
          "maximum": 10,
          "default": 0.2,
          "examples": [
            0.2,
            0.1
          ],
          "markdownDescription": "Retries per first attempt that succeeded.\n\nAllowed: number 0 to 10.\n\nDefault: 0.2."
        },
        "window": {
          "description": "How far back first attempts and retries are counted.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "1s",
          "x-max": "10m",
          "default": "10s",
          "examples": [
            "10s"
          ],
          "markdownDescription": "How far back first attempts and retries are counted.\n\nAllowed: duration 1s to 10m.\n\nDefault: 10s.",
          "patternErrorMessage": "Not allowed here; write duration 1s to 10m."
        },
        "minPerSecond": {
          "description": "Retries per second that quiet clients may always make.",
          "type": "number",
          "minimum": 0,
          "maximum": 10000,
          "default": 0.5,
          "examples": [
            0.5
          ],
          "markdownDescription": "Retries per second that quiet clients may always make.\n\nAllowed: number 0 to 10000.\n\nDefault: 0.5."
        }
      }
    },
    "breaker": {
      "title": "Breaker",
      "description": "When to stop calling. Closed = healthy. A route that writes this section gets a breaker of its own.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "mode": {
          "description": "`enforce` refuses calls while open; `observe` counts and reports only; `disabled` does nothing.",
          "enum": [
            "enforce",
            "observe",
            "disabled"
          ],
          "enumDescriptions": [
            "refuses calls while open",
            "counts and reports, refuses nothing",
            "does nothing"
          ],
          "default": "enforce",
          "examples": [
            "enforce"
          ],
          "markdownDescription": "`enforce` refuses calls while open; `observe` counts and reports only; `disabled` does nothing.\n\nDefault: enforce."
        },
        "failureRatio": {
          "description": "Opens at this share of failed first attempts or more.",
          "type": "number",
          "minimum": 0.01,
          "maximum": 1,
          "default": 0.8,
          "examples": [
            0.8
          ],
          "markdownDescription": "Opens at this share of failed first attempts or more.\n\nAllowed: number 0.01 to 1.\n\nDefault: 0.8."
        },
        "window": {
          "description": "How far back the ratio looks.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "100ms",
          "x-max": "1h",
          "default": "10s",
          "examples": [
            "10s"
          ],
          "markdownDescription": "How far back the ratio looks.\n\nAllowed: duration 100ms to 1h.\n\nDefault: 10s.",
          "patternErrorMessage": "Not allowed here; write duration 100ms to 1h."
        },
        "minRequests": {
          "description": "First attempts in the window before the ratio counts.",
          "type": "integer",
          "minimum": 1,
          "maximum": 1000000,
          "default": 20,
          "examples": [
            20
          ],
          "markdownDescription": "First attempts in the window before the ratio counts.\n\nAllowed: whole number 1 to 1000000.\n\nDefault: 20."
        },
        "consecutiveFailures": {
          "description": "Opens after this many failures in a row, whatever the ratio; 0 = off.",
          "type": "integer",
          "minimum": 0,
          "maximum": 1000000,
          "default": 10,
          "examples": [
            10,
            0
          ],
          "markdownDescription": "Opens after this many failures in a row, whatever the ratio; 0 = off.\n\nAllowed: whole number 0 to 1000000.\n\nDefault: 10."
        },
        "openFor": {
          "description": "Shortest time open before a probe.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "1ms",
          "x-max": "1h",
          "default": "1s",
          "examples": [
            "1s"
          ],
          "markdownDescription": "Shortest time open before a probe.\n\nAllowed: duration 1ms to 1h.\n\nDefault: 1s.",
          "patternErrorMessage": "Not allowed here; write duration 1ms to 1h."
        },
        "maxOpenFor": {
          "description": "Longest time between probes; the time open grows with the age of the outage.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "1ms",
          "x-max": "1h",
          "default": "15s",
          "examples": [
            "15s"
          ],
          "markdownDescription": "Longest time between probes; the time open grows with the age of the outage.\n\nAllowed: duration 1ms to 1h.\n\nDefault: 15s.",
          "patternErrorMessage": "Not allowed here; write duration 1ms to 1h."
        },
        "whenOpen": {
          "description": "`refuse` answers 503 at once; `wait` keeps calls in a bounded room until the upstream is back or their deadline comes.",
          "enum": [
            "refuse",
            "wait"
          ],
          "enumDescriptions": [
            "answers 503 at once",
            "keeps calls in a bounded room until the upstream is back or their deadline comes"
          ],
          "default": "refuse",
          "examples": [
            "refuse"
          ],
          "markdownDescription": "`refuse` answers 503 at once; `wait` keeps calls in a bounded room until the upstream is back or their deadline comes.\n\nDefault: refuse."
        },
        "slowCall": {
          "title": "SlowCall",
          "description": "Opens also on slowness: for upstreams that fail by answering late.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "after": {
              "description": "An attempt without an answer for this long is slow, however it ends; a slow probe fails. `none` = off.",
              "type": "string",
              "pattern": "^(none|(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?)$",
              "x-format": "duration-or-none",
              "x-min": "1ms",
              "x-max": "1h",
              "default": "none",
              "examples": [
                "2s",
                "none"
              ],
              "markdownDescription": "An attempt without an answer for this long is slow, however it ends; a slow probe fails. `none` = off.\n\nAllowed: duration 1ms to 1h, or `none`.\n\nDefault: none.",
              "patternErrorMessage": "Not allowed here; write duration 1ms to 1h, or `none`."
            },
            "ratio": {
              "description": "Opens at this share of slow first attempts or more, under the same window and minRequests as failureRatio.",
              "type": "number",
              "minimum": 0.01,
              "maximum": 1,
              "default": 0.8,
              "examples": [
                0.5
              ],
              "markdownDescription": "Opens at this share of slow first attempts or more, under the same window and minRequests as failureRatio.\n\nAllowed: number 0.01 to 1.\n\nDefault: 0.8."
            }
          }
        }
      }
    },
    "pace": {
      "title": "Pace",
      "description": "How fast an upstream that limits its callers is sent. Calls above the pace wait in line under `limits.maxWaiting`, first come first served; one that would not get its turn before its deadline is refused at once. With `retryAfter.scope: upstream` a single 429 with `Retry-After` holds all calls back. A route that writes this section gets a pace, a line and a breaker of its own.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "mode": {
          "description": "Who writes the section means `fixed` with a rate, `auto` without. `auto` sends as it comes until a 429, then 0.7 of what it was sent, growing slowly to that rate within 10 s and faster beyond it; `fixed` never sends more than `rate`; `disabled` does nothing.",
          "enum": [
            "auto",
            "fixed",
            "disabled"
          ],
          "enumDescriptions": [
            "learns the rate from 429s",
            "never sends more than rate",
            "does nothing"
          ],
          "default": "disabled",
          "examples": [
            "auto"
          ],
          "markdownDescription": "Who writes the section means `fixed` with a rate, `auto` without. `auto` sends as it comes until a 429, then 0.7 of what it was sent, growing slowly to that rate within 10 s and faster beyond it; `fixed` never sends more than `rate`; `disabled` does nothing.\n\nDefault: disabled."
        },
        "rate": {
          "description": "Calls a second, `fixed` only.",
          "type": "number",
          "minimum": 0.01,
          "maximum": 1000000,
          "default": 10,
          "examples": [
            15
          ],
          "markdownDescription": "Calls a second, `fixed` only.\n\nAllowed: number 0.01 to 1000000.\n\nDefault: 10."
        },
        "burst": {
          "description": "Calls that may go at once after a pause, `fixed` only.",
          "type": "integer",
          "minimum": 1,
          "maximum": 1000000,
          "default": 1,
          "examples": [
            15
          ],
          "markdownDescription": "Calls that may go at once after a pause, `fixed` only.\n\nAllowed: whole number 1 to 1000000.\n\nDefault: 1."
        }
      }
    },
    "throttle": {
      "title": "Throttle",
      "description": "Refuses a part of the calls here while the upstream accepts only a part of them, so that it is sent at most k times what it accepts: with the probability max(0, (requests - k x accepts) / (requests + 1)). The breaker is for all or nothing, this for half. A failure and a 429 are not accepted, any other answer is. A route that writes this section gets a throttle of its own.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "mode": {
          "description": "Who writes the section means `enabled`. `enabled` refuses with 503 `throttled`; `observe` only tells the probability (`/status`, `forbear_throttle_probability`); `disabled` does nothing.",
          "enum": [
            "enabled",
            "observe",
            "disabled"
          ],
          "enumDescriptions": [
            "refuses with 503 throttled",
            "counts and reports, refuses nothing",
            "does nothing"
          ],
          "default": "disabled",
          "examples": [
            "enabled"
          ],
          "markdownDescription": "Who writes the section means `enabled`. `enabled` refuses with 503 `throttled`; `observe` only tells the probability (`/status`, `forbear_throttle_probability`); `disabled` does nothing.\n\nDefault: disabled."
        },
        "k": {
          "description": "Calls that the upstream may be sent for each that it accepts: lower refuses sooner.",
          "type": "number",
          "minimum": 1,
          "maximum": 100,
          "default": 2,
          "examples": [
            2,
            1.1
          ],
          "markdownDescription": "Calls that the upstream may be sent for each that it accepts: lower refuses sooner.\n\nAllowed: number 1 to 100.\n\nDefault: 2."
        },
        "window": {
          "description": "How far back it looks; not below `timeouts.total`, or calls are forgotten before they have failed.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "1s",
          "x-max": "1h",
          "default": "30s",
          "examples": [
            "30s"
          ],
          "markdownDescription": "How far back it looks; not below `timeouts.total`, or calls are forgotten before they have failed.\n\nAllowed: duration 1s to 1h.\n\nDefault: 30s.",
          "patternErrorMessage": "Not allowed here; write duration 1s to 1h."
        }
      }
    },
    "fallback": {
      "title": "Fallback",
      "description": "A static answer in the place of a failure, marked `forbear-outcome: fallback`. Off unless `when` names a cause.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "when": {
          "description": "Causes for which it is given: how the request ended (`forbear-outcome`), or why no further attempt was made. So `retries-exhausted` holds whatever the last attempt failed of.",
          "type": "array",
          "maxItems": 50,
          "uniqueItems": true,
          "items": {
            "enum": [
              "breaker-open",
              "retries-exhausted",
              "budget-exhausted",
              "deadline",
              "connect",
              "reset",
              "bad-response",
              "attempt-timeout",
              "overloaded",
              "gate-closed",
              "throttled",
              "retry-after-too-long"
            ],
            "examples": [
              "breaker-open",
              "retries-exhausted",
              "budget-exhausted",
              "deadline",
              "connect",
              "reset",
              "bad-response",
              "attempt-timeout",
              "overloaded",
              "gate-closed",
              "throttled",
              "retry-after-too-long"
            ]
          },
          "default": [],
          "examples": [
            [
              "breaker-open",
              "retries-exhausted"
            ]
          ],
          "markdownDescription": "Causes for which it is given: how the request ended (`forbear-outcome`), or why no further attempt was made. So `retries-exhausted` holds whatever the last attempt failed of.\n\nAllowed: list; each: `breaker-open`, `retries-exhausted`, `budget-exhausted`, `deadline`, `connect`, `reset`, `bad-response`, `attempt-timeout`, `overloaded`, `gate-closed`, `throttled`, `retry-after-too-long`.\n\nDefault: []."
        },
        "methods": {
          "description": "Methods that it answers. Another than GET, HEAD and OPTIONS tells the app that something was done that was not.",
          "type": "array",
          "minItems": 1,
          "maxItems": 50,
          "uniqueItems": true,
          "items": {
            "type": "string",
            "pattern": "^[A-Z][A-Z0-9_-]{0,30}$",
            "x-words": [
              "GET",
              "HEAD",
              "POST",
              "PUT",
              "PATCH",
              "DELETE",
              "OPTIONS",
              "TRACE"
            ],
            "x-allowed": "a method in capitals",
            "examples": [
              "GET",
              "HEAD",
              "OPTIONS",
              "POST",
              "PUT",
              "PATCH",
              "DELETE",
              "TRACE"
            ],
            "patternErrorMessage": "Not allowed here; write a method in capitals."
          },
          "default": [
            "GET",
            "HEAD",
            "OPTIONS"
          ],
          "examples": [
            [
              "GET"
            ]
          ],
          "markdownDescription": "Methods that it answers. Another than GET, HEAD and OPTIONS tells the app that something was done that was not.\n\nAllowed: list; each: a method in capitals.\n\nDefault: [GET,HEAD,OPTIONS]."
        },
        "status": {
          "description": "Its status.",
          "type": "integer",
          "minimum": 200,
          "maximum": 599,
          "default": 200,
          "examples": [
            200
          ],
          "markdownDescription": "Its status.\n\nAllowed: whole number 200 to 599.\n\nDefault: 200."
        },
        "headers": {
          "description": "Its header fields; the length is added.",
          "type": "object",
          "maxProperties": 20,
          "propertyNames": {
            "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
            "x-allowed": "a header name",
            "patternErrorMessage": "Not allowed here; write a header name."
          },
          "additionalProperties": {
            "type": "string",
            "maxLength": 1000,
            "pattern": "^[\\t\\u0020-\\u007e]*$",
            "x-allowed": "printable ASCII",
            "patternErrorMessage": "Not allowed here; write printable ASCII."
          },
          "default": {},
          "examples": [
            {
              "content-type": "application/json"
            }
          ],
          "markdownDescription": "Its header fields; the length is added.\n\nAllowed: mapping of text to text.\n\nDefault: {}."
        },
        "body": {
          "description": "Its body. Default: empty.",
          "type": "string",
          "maxLength": 65536,
          "examples": [
            "{\"items\": []}"
          ],
          "markdownDescription": "Its body. Default: empty.\n\nAllowed: text."
        },
        "file": {
          "description": "File whose content is the body, up to 1 MiB; looked at again every 5 s. While it cannot be read, no fallback is given.",
          "type": "string",
          "minLength": 1,
          "maxLength": 4096,
          "examples": [
            "/etc/forbear/fallback/items.json"
          ],
          "markdownDescription": "File whose content is the body, up to 1 MiB; looked at again every 5 s. While it cannot be read, no fallback is given.\n\nAllowed: text."
        }
      }
    },
    "pollBackoff": {
      "title": "PollBackoff",
      "description": "The wait between an answer and the next poll, never below half of `base`.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "kind": {
          "description": "As in `retry.backoff`.",
          "enum": [
            "exponential",
            "linear",
            "fixed"
          ],
          "enumDescriptions": [
            "base × factor^(n−1) before repeat n",
            "base × n before repeat n",
            "base before every repeat"
          ],
          "default": "exponential",
          "examples": [
            "fixed"
          ],
          "markdownDescription": "As in `retry.backoff`.\n\nDefault: exponential."
        },
        "base": {
          "description": "The first wait, before jitter.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "100ms",
          "x-max": "1h",
          "default": "1s",
          "examples": [
            "1s"
          ],
          "markdownDescription": "The first wait, before jitter.\n\nAllowed: duration 100ms to 1h.\n\nDefault: 1s.",
          "patternErrorMessage": "Not allowed here; write duration 100ms to 1h."
        },
        "factor": {
          "description": "Growth from one wait to the next, `exponential` only.",
          "type": "number",
          "minimum": 1,
          "maximum": 100,
          "default": 2,
          "examples": [
            1.5
          ],
          "markdownDescription": "Growth from one wait to the next, `exponential` only.\n\nAllowed: number 1 to 100.\n\nDefault: 2."
        },
        "cap": {
          "description": "Longest wait, before jitter. A `Retry-After` may be longer.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "100ms",
          "x-max": "24h",
          "default": "60s",
          "examples": [
            "60s"
          ],
          "markdownDescription": "Longest wait, before jitter. A `Retry-After` may be longer.\n\nAllowed: duration 100ms to 24h.\n\nDefault: 60s.",
          "patternErrorMessage": "Not allowed here; write duration 100ms to 24h."
        },
        "jitter": {
          "description": "How a delay v is spread: `none`; `full` = 0 to v; `equal` = v/2 to v; `decorrelated` = base to three times the previous delay; or a range such as [0.8, 1.2] = 0.8 v to 1.2 v.",
          "type": [
            "string",
            "array"
          ],
          "pattern": "^(none|full|equal|decorrelated)$",
          "x-words": [
            "none",
            "full",
            "equal",
            "decorrelated"
          ],
          "x-allowed": "none, full, equal, decorrelated, or a range such as [0.8, 1.2]",
          "items": {
            "type": "number",
            "minimum": 0,
            "maximum": 10
          },
          "minItems": 2,
          "maxItems": 2,
          "examples": [
            "full",
            "equal",
            "decorrelated",
            "none",
            [
              0.8,
              1.2
            ]
          ],
          "default": "equal",
          "markdownDescription": "How a delay v is spread: `none`; `full` = 0 to v; `equal` = v/2 to v; `decorrelated` = base to three times the previous delay; or a range such as [0.8, 1.2] = 0.8 v to 1.2 v.\n\nAllowed: none, full, equal, decorrelated, or a range such as [0.8, 1.2].\n\nDefault: equal.",
          "patternErrorMessage": "Not allowed here; write none, full, equal, decorrelated, or a range such as [0.8, 1.2]."
        }
      }
    },
    "poll": {
      "title": "Poll",
      "description": "The app makes one GET and gets the answer that it waits for: it is repeated until `until` holds. When the time is up, and the app's own `Prefer: wait=N` and `forbear-timeout-ms` may only shorten it, the app gets the last answer unchanged with `forbear-outcome: poll-pending`. Each repeat is a call of its own, with timeouts and retries as for any other; an empty budget makes it slower. `Retry-After` of an answer is waited for. On a route only; GET and HEAD without a body.",
      "type": "object",
      "required": [
        "until"
      ],
      "additionalProperties": false,
      "properties": {
        "until": {
          "title": "PollUntil",
          "description": "When it is done; with both, both must hold. Until then another 2xx, 408, 425 and 429 mean not yet; any other answer ends the polling and is passed on.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "status": {
              "description": "Any of these statuses, unless `retry.retryOn` has it: a failure is retried first. Without it, with `json` alone: any from 200 to 299.",
              "type": "array",
              "minItems": 1,
              "maxItems": 50,
              "uniqueItems": true,
              "items": {
                "type": "integer",
                "minimum": 200,
                "maximum": 499,
                "x-allowed": "a status from 200 to 499",
                "examples": [
                  200
                ]
              },
              "x-default": "none",
              "examples": [
                [
                  200
                ]
              ],
              "markdownDescription": "Any of these statuses, unless `retry.retryOn` has it: a failure is retried first. Without it, with `json` alone: any from 200 to 299.\n\nAllowed: list; each: a status from 200 to 499.\n\nDefault: none."
            },
            "json": {
              "title": "PollJson",
              "description": "What the JSON document of the answer must say: one of `equals`, `in` and `exists`. It is read up to 64 KiB, gzip, deflate and br are undone; what is larger is passed on as it is.",
              "type": "object",
              "required": [
                "pointer"
              ],
              "additionalProperties": false,
              "properties": {
                "pointer": {
                  "description": "Where to look in the document (RFC 6901).",
                  "type": "string",
                  "pattern": "^(/([^~/]|~0|~1)*)*$",
                  "maxLength": 1000,
                  "x-allowed": "a JSON pointer such as /status",
                  "x-default": "required in `json`",
                  "examples": [
                    "/status"
                  ],
                  "markdownDescription": "Where to look in the document (RFC 6901).\n\nAllowed: a JSON pointer such as /status.\n\nDefault: required in `json`.",
                  "patternErrorMessage": "Not allowed here; write a JSON pointer such as /status."
                },
                "equals": {
                  "description": "This value stands there.",
                  "type": [
                    "string",
                    "number",
                    "boolean"
                  ],
                  "x-allowed": "text, a number, true or false",
                  "x-default": "none",
                  "examples": [
                    "done"
                  ],
                  "markdownDescription": "This value stands there.\n\nAllowed: text, a number, true or false.\n\nDefault: none."
                },
                "in": {
                  "description": "One of these values stands there.",
                  "type": "array",
                  "minItems": 1,
                  "maxItems": 50,
                  "uniqueItems": true,
                  "items": {
                    "type": [
                      "string",
                      "number",
                      "boolean"
                    ],
                    "x-allowed": "text, a number, true or false",
                    "examples": [
                      "done",
                      "failed"
                    ]
                  },
                  "x-default": "none",
                  "examples": [
                    [
                      "done",
                      "failed"
                    ]
                  ],
                  "markdownDescription": "One of these values stands there.\n\nAllowed: list; each: text, a number, true or false.\n\nDefault: none."
                },
                "exists": {
                  "description": "`true`: something stands there, `null` too; `false`: nothing does.",
                  "type": "boolean",
                  "x-default": "none",
                  "examples": [
                    true
                  ],
                  "markdownDescription": "`true`: something stands there, `null` too; `false`: nothing does.\n\nAllowed: `true`, `false`.\n\nDefault: none."
                }
              }
            }
          }
        },
        "backoff": {
          "$ref": "#/$defs/pollBackoff"
        },
        "maxWait": {
          "description": "From the arrival of the request to its last poll. The first poll is not cut by it.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "1ms",
          "x-max": "24h",
          "default": "5m",
          "examples": [
            "5m"
          ],
          "markdownDescription": "From the arrival of the request to its last poll. The first poll is not cut by it.\n\nAllowed: duration 1ms to 24h.\n\nDefault: 5m.",
          "patternErrorMessage": "Not allowed here; write duration 1ms to 24h."
        }
      }
    },
    "fault": {
      "title": "Fault",
      "description": "Rehearses a bad day of the upstream: a share of the attempts is delayed, answered in its place or cut off. Only while an operator has switched it on (`POST /faults/on?for=10m` of the admin port); otherwise it does nothing. Redeliveries of parked calls are spared.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "percent": {
          "description": "Share of attempts that is hit; 0 = none.",
          "type": "number",
          "minimum": 0,
          "maximum": 100,
          "default": 0,
          "examples": [
            20
          ],
          "markdownDescription": "Share of attempts that is hit; 0 = none.\n\nAllowed: number 0 to 100.\n\nDefault: 0."
        },
        "delay": {
          "description": "Pause before the attempt goes on or ends.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "0ms",
          "x-max": "1h",
          "default": "0ms",
          "examples": [
            "3s"
          ],
          "markdownDescription": "Pause before the attempt goes on or ends.\n\nAllowed: duration 0ms to 1h.\n\nDefault: 0ms.",
          "patternErrorMessage": "Not allowed here; write duration 0ms to 1h."
        },
        "status": {
          "description": "Answer with this status; the upstream is not called. Default: it is.",
          "type": "integer",
          "minimum": 400,
          "maximum": 599,
          "x-default": "none",
          "examples": [
            503
          ],
          "markdownDescription": "Answer with this status; the upstream is not called. Default: it is.\n\nAllowed: whole number 400 to 599.\n\nDefault: none."
        },
        "abort": {
          "description": "Break off as if the connection had been reset; the upstream is not called.",
          "type": "boolean",
          "default": false,
          "examples": [
            true
          ],
          "markdownDescription": "Break off as if the connection had been reset; the upstream is not called.\n\nAllowed: `true`, `false`.\n\nDefault: false."
        }
      }
    },
    "park": {
      "title": "Park",
      "description": "Stores a finally failed call on disk for slow redelivery and answers 202 instead of the failure, with a Location on the admin port that tells what became of it. Only for calls whose body was kept whole (`retry.maxBody`) and that carry the app's own key (`retry.idempotency.keyHeaders`) or `If-Match`, never for GET and the like. Off unless the section is written. Full, or a store that fails: the app gets the failure as without parking.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "accept": {
          "description": "Which calls: `prefer` = those whose app sent `Prefer: respond-async`, so it knows what a 202 means; `always` = all; `never` = none. Where the section is written without it: `prefer`.",
          "enum": [
            "prefer",
            "always",
            "never"
          ],
          "enumDescriptions": [
            "those whose app sent Prefer: respond-async",
            "all",
            "none"
          ],
          "default": "never",
          "examples": [
            "prefer"
          ],
          "markdownDescription": "Which calls: `prefer` = those whose app sent `Prefer: respond-async`, so it knows what a 202 means; `always` = all; `never` = none. Where the section is written without it: `prefer`.\n\nDefault: never."
        },
        "store": {
          "description": "Where they are kept: a directory of this sidecar alone, which must outlive it (a volume); or `redis://…`, which all replicas share and each entry is delivered by one of. Replicas of one app only: whoever shares it must have the same upstreams, so give each app a database of its own (`redis://host:6379/1`).",
          "type": "string",
          "pattern": "^(/[^\\s]*|rediss?://[^\\s]+)$",
          "maxLength": 1000,
          "x-allowed": "an absolute path, or redis://host:port",
          "default": "/var/lib/forbear",
          "examples": [
            "/var/lib/forbear",
            "redis://redis:6379"
          ],
          "markdownDescription": "Where they are kept: a directory of this sidecar alone, which must outlive it (a volume); or `redis://…`, which all replicas share and each entry is delivered by one of. Replicas of one app only: whoever shares it must have the same upstreams, so give each app a database of its own (`redis://host:6379/1`).\n\nAllowed: an absolute path, or redis://host:port.\n\nDefault: /var/lib/forbear.",
          "patternErrorMessage": "Not allowed here; write an absolute path, or redis://host:port."
        },
        "first": {
          "description": "Wait before the first redelivery. A `Retry-After` of the failed answer replaces it. Every wait is up to a fifth longer, at random.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "10ms",
          "x-max": "24h",
          "default": "1m",
          "examples": [
            "1m"
          ],
          "markdownDescription": "Wait before the first redelivery. A `Retry-After` of the failed answer replaces it. Every wait is up to a fifth longer, at random.\n\nAllowed: duration 10ms to 24h.\n\nDefault: 1m.",
          "patternErrorMessage": "Not allowed here; write duration 10ms to 24h."
        },
        "every": {
          "description": "Waits double from `first` up to this.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "10ms",
          "x-max": "168h",
          "default": "1h",
          "examples": [
            "1h"
          ],
          "markdownDescription": "Waits double from `first` up to this.\n\nAllowed: duration 10ms to 168h.\n\nDefault: 1h.",
          "patternErrorMessage": "Not allowed here; write duration 10ms to 168h."
        },
        "maxAge": {
          "description": "An entry this old is given up after one more try, or without it where nobody was there to make it until long after: the upstream may have forgotten the key by then. A `Retry-After` beyond it: the call is not parked.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "10ms",
          "x-max": "8760h",
          "default": "12h",
          "examples": [
            "12h"
          ],
          "markdownDescription": "An entry this old is given up after one more try, or without it where nobody was there to make it until long after: the upstream may have forgotten the key by then. A `Retry-After` beyond it: the call is not parked.\n\nAllowed: duration 10ms to 8760h.\n\nDefault: 12h.",
          "patternErrorMessage": "Not allowed here; write duration 10ms to 8760h."
        },
        "maxAttempts": {
          "description": "Redeliveries after which an entry is given up; what breaker, budget or gate kept from being sent does not count.",
          "type": "integer",
          "minimum": 1,
          "maximum": 1000,
          "default": 24,
          "examples": [
            24
          ],
          "markdownDescription": "Redeliveries after which an entry is given up; what breaker, budget or gate kept from being sent does not count.\n\nAllowed: whole number 1 to 1000.\n\nDefault: 24."
        },
        "maxBytes": {
          "description": "Of all entries of the store together, at most 10 000. What has ended makes room, oldest first, and what is dead last; when what waits fills it, calls are not parked.",
          "type": "string",
          "pattern": "^[0-9]{1,15}(B|KiB|MiB|GiB)$",
          "x-format": "size",
          "x-min": "4KiB",
          "x-max": "16GiB",
          "default": "64MiB",
          "examples": [
            "64MiB"
          ],
          "markdownDescription": "Of all entries of the store together, at most 10 000. What has ended makes room, oldest first, and what is dead last; when what waits fills it, calls are not parked.\n\nAllowed: size 4KiB to 16GiB.\n\nDefault: 64MiB.",
          "patternErrorMessage": "Not allowed here; write size 4KiB to 16GiB."
        },
        "onParked": {
          "description": "Told by POST (JSON) of each call that was parked.",
          "type": "string",
          "pattern": "^https?://[^\\s/?#@]+(?:[/?#]\\S*)?$",
          "maxLength": 2000,
          "x-allowed": "http:// or https:// and a host; no user name",
          "x-default": "none",
          "examples": [
            "http://hooks.internal/parked"
          ],
          "markdownDescription": "Told by POST (JSON) of each call that was parked.\n\nAllowed: http:// or https:// and a host; no user name.\n\nDefault: none.",
          "patternErrorMessage": "Not allowed here; write http:// or https:// and a host; no user name."
        },
        "onDead": {
          "description": "Told by POST (JSON) of each entry that was given up.",
          "type": "string",
          "pattern": "^https?://[^\\s/?#@]+(?:[/?#]\\S*)?$",
          "maxLength": 2000,
          "x-allowed": "http:// or https:// and a host; no user name",
          "x-default": "none",
          "examples": [
            "http://hooks.internal/dead"
          ],
          "markdownDescription": "Told by POST (JSON) of each entry that was given up.\n\nAllowed: http:// or https:// and a host; no user name.\n\nDefault: none.",
          "patternErrorMessage": "Not allowed here; write http:// or https:// and a host; no user name."
        },
        "keyFile": {
          "description": "File of at least 16 random bytes with which `secretHeaders` are encrypted (AES-256-GCM). Without it they are not stored, so the redelivery goes without them.",
          "type": "string",
          "pattern": "^/[^\\s]*$",
          "maxLength": 1000,
          "x-allowed": "an absolute path",
          "x-default": "none",
          "examples": [
            "/etc/forbear/park.key"
          ],
          "markdownDescription": "File of at least 16 random bytes with which `secretHeaders` are encrypted (AES-256-GCM). Without it they are not stored, so the redelivery goes without them.\n\nAllowed: an absolute path.\n\nDefault: none.",
          "patternErrorMessage": "Not allowed here; write an absolute path."
        },
        "secretHeaders": {
          "description": "Headers that are stored encrypted, or not at all.",
          "type": "array",
          "maxItems": 50,
          "uniqueItems": true,
          "items": {
            "type": "string",
            "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$",
            "x-allowed": "a header name",
            "examples": [
              "Authorization"
            ],
            "patternErrorMessage": "Not allowed here; write a header name."
          },
          "default": [
            "Authorization",
            "Cookie",
            "X-Api-Key"
          ],
          "examples": [
            [
              "Authorization",
              "Cookie"
            ]
          ],
          "markdownDescription": "Headers that are stored encrypted, or not at all.\n\nAllowed: list; each: a header name.\n\nDefault: [Authorization,Cookie,X-Api-Key]."
        }
      }
    },
    "limits": {
      "title": "Limits",
      "description": "How much may be under way. A route that writes this section gets limits of its own.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "maxInFlight": {
          "description": "Attempts on the wire at one time. `auto` learns it from latency: more while answers come as fast as usual, fewer when they queue in the upstream. The opening of a tunnel (CONNECT, WebSocket) counts, a tunnel that stands does not: it may live for hours, and has `maxTunnels` of its own.",
          "type": [
            "integer",
            "string"
          ],
          "minimum": 1,
          "maximum": 1000000,
          "pattern": "^auto$",
          "x-words": [
            "auto"
          ],
          "x-allowed": "a whole number from 1 to 1000000, or auto",
          "default": 1024,
          "examples": [
            1024,
            "auto"
          ],
          "markdownDescription": "Attempts on the wire at one time. `auto` learns it from latency: more while answers come as fast as usual, fewer when they queue in the upstream. The opening of a tunnel (CONNECT, WebSocket) counts, a tunnel that stands does not: it may live for hours, and has `maxTunnels` of its own.\n\nAllowed: a whole number from 1 to 1000000, or auto.\n\nDefault: 1024.",
          "patternErrorMessage": "Not allowed here; write a whole number from 1 to 1000000, or auto."
        },
        "maxTunnels": {
          "description": "Tunnels (CONNECT, WebSocket) that stand or are being opened at one time; one more is answered 503 `overloaded` at once.",
          "type": "integer",
          "minimum": 1,
          "maximum": 1000000,
          "pattern": "^auto$",
          "x-words": [
            "auto"
          ],
          "x-allowed": "a whole number from 1 to 1000000, or auto",
          "default": 1024,
          "examples": [
            1024,
            "auto"
          ],
          "markdownDescription": "Tunnels (CONNECT, WebSocket) that stand or are being opened at one time; one more is answered 503 `overloaded` at once.\n\nAllowed: a whole number from 1 to 1000000, or auto.\n\nDefault: 1024.",
          "patternErrorMessage": "Not allowed here; write a whole number from 1 to 1000000, or auto."
        },
        "maxWaiting": {
          "description": "Requests that wait at one time, for a slot or for another attempt; one more is answered 503 `overloaded`.",
          "type": "integer",
          "minimum": 0,
          "maximum": 1000000,
          "default": 1024,
          "examples": [
            1024,
            0
          ],
          "markdownDescription": "Requests that wait at one time, for a slot or for another attempt; one more is answered 503 `overloaded`.\n\nAllowed: whole number 0 to 1000000.\n\nDefault: 1024."
        },
        "maxWaitingBytes": {
          "description": "Body bytes kept for requests that wait.",
          "type": "string",
          "pattern": "^[0-9]{1,15}(B|KiB|MiB|GiB)$",
          "x-format": "size",
          "x-min": "0B",
          "x-max": "4GiB",
          "default": "16MiB",
          "examples": [
            "16MiB"
          ],
          "markdownDescription": "Body bytes kept for requests that wait.\n\nAllowed: size 0B to 4GiB.\n\nDefault: 16MiB.",
          "patternErrorMessage": "Not allowed here; write size 0B to 4GiB."
        }
      }
    },
    "hedge": {
      "title": "Hedge",
      "description": "A second call beside one that is late; the first good answer counts, the other call is ended. Only GET, HEAD and OPTIONS, on another connection, with half of the budget, and never while the breaker is not closed, a gate is shut or no slot is free. Off unless the section is written. A hedge is one of `retry.maxAttempts`. A route that writes this section gets answer times of its own.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "mode": {
          "description": "`enabled` sends hedges; `observe` counts those that would be sent; `disabled` does nothing. Where the section is written without it: `enabled`.",
          "enum": [
            "enabled",
            "observe",
            "disabled"
          ],
          "enumDescriptions": [
            "sends hedges",
            "counts those that would be sent",
            "does nothing"
          ],
          "default": "disabled",
          "examples": [
            "enabled"
          ],
          "markdownDescription": "`enabled` sends hedges; `observe` counts those that would be sent; `disabled` does nothing. Where the section is written without it: `enabled`.\n\nDefault: disabled."
        },
        "after": {
          "description": "How late the last attempt must be: a quantile of the answer times of the last 30 to 60 seconds (`p95` = later than 95 of 100), or a fixed time.",
          "type": "string",
          "pattern": "^(p[5-9][0-9]([.][0-9])?|(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?)$",
          "x-format": "duration-or-quantile",
          "x-min": "1ms",
          "x-max": "10m",
          "default": "p95",
          "examples": [
            "p95",
            "p99.9",
            "50ms"
          ],
          "markdownDescription": "How late the last attempt must be: a quantile of the answer times of the last 30 to 60 seconds (`p95` = later than 95 of 100), or a fixed time.\n\nAllowed: duration 1ms to 10m, or a quantile `p50` to `p99.9`.\n\nDefault: p95.",
          "patternErrorMessage": "Not allowed here; write duration 1ms to 10m, or a quantile `p50` to `p99.9`."
        },
        "maxHedges": {
          "description": "Hedges for one request, at most.",
          "type": "integer",
          "minimum": 1,
          "maximum": 5,
          "default": 1,
          "examples": [
            1
          ],
          "markdownDescription": "Hedges for one request, at most.\n\nAllowed: whole number 1 to 5.\n\nDefault: 1."
        },
        "minSamples": {
          "description": "Answers that must be known before a quantile counts; until then no hedge is sent.",
          "type": "integer",
          "minimum": 1,
          "maximum": 100000,
          "default": 100,
          "examples": [
            100
          ],
          "markdownDescription": "Answers that must be known before a quantile counts; until then no hedge is sent.\n\nAllowed: whole number 1 to 100000.\n\nDefault: 100."
        },
        "floor": {
          "description": "Never earlier, whatever the quantile.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "0ms",
          "x-max": "10m",
          "default": "5ms",
          "examples": [
            "5ms"
          ],
          "markdownDescription": "Never earlier, whatever the quantile.\n\nAllowed: duration 0ms to 10m.\n\nDefault: 5ms.",
          "patternErrorMessage": "Not allowed here; write duration 0ms to 10m."
        },
        "ceiling": {
          "description": "Never later, whatever the quantile.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "1ms",
          "x-max": "10m",
          "default": "10s",
          "examples": [
            "10s"
          ],
          "markdownDescription": "Never later, whatever the quantile.\n\nAllowed: duration 1ms to 10m.\n\nDefault: 10s.",
          "patternErrorMessage": "Not allowed here; write duration 1ms to 10m."
        },
        "keyedWrites": {
          "description": "Hedge also calls that carry an idempotency key, the app's or one that `retry.idempotency.generate` adds. Only for upstreams that can bear two calls with one key at the same time.",
          "type": "boolean",
          "default": false,
          "examples": [
            true
          ],
          "markdownDescription": "Hedge also calls that carry an idempotency key, the app's or one that `retry.idempotency.generate` adds. Only for upstreams that can bear two calls with one key at the same time.\n\nAllowed: `true`, `false`.\n\nDefault: false."
        }
      }
    },
    "pool": {
      "title": "Pool",
      "description": "Connections to the upstream, shared by its routes.",
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "maxConnections": {
          "description": "Open connections at one time.",
          "type": "integer",
          "minimum": 1,
          "maximum": 65535,
          "default": 256,
          "examples": [
            256
          ],
          "markdownDescription": "Open connections at one time.\n\nAllowed: whole number 1 to 65535.\n\nDefault: 256."
        },
        "maxAge": {
          "description": "A connection is replaced after this long, ± 10 %, so that new replicas get their share.",
          "type": "string",
          "pattern": "^(?=.)([0-9]{1,12}h)?([0-9]{1,12}m)?([0-9]{1,12}s)?([0-9]{1,12}ms)?$",
          "x-format": "duration",
          "x-min": "100ms",
          "x-max": "24h",
          "default": "5m",
          "examples": [
            "5m"
          ],
          "markdownDescription": "A connection is replaced after this long, ± 10 %, so that new replicas get their share.\n\nAllowed: duration 100ms to 24h.\n\nDefault: 5m.",
          "patternErrorMessage": "Not allowed here; write duration 100ms to 24h."
        }
      }
    },
    "propagate": {
      "description": "Tell the services behind the upstream about a re-send, in the W3C baggage, so that retries of several layers do not multiply.",
      "type": "boolean",
      "default": false,
      "examples": [
        true
      ],
      "markdownDescription": "Tell the services behind the upstream about a re-send, in the W3C baggage, so that retries of several layers do not multiply.\n\nAllowed: `true`, `false`.\n\nDefault: false."
    }
  }
}
