{{/* `forbear certs` and the documents call it forbear-webhook: a release named so, or named forbear, has that name. */}}
{{- define "forbear.name" -}}
{{- if hasSuffix "-webhook" .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-webhook" (.Release.Name | trunc 55 | trimSuffix "-") -}}
{{- end -}}
{{- end }}

{{- define "forbear.secretName" -}}
{{- .Values.certificates.secretName | default (printf "%s-tls" (include "forbear.name" .)) -}}
{{- end }}

{{- define "forbear.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{- printf "%s@%s" .repository .digest -}}
{{- else -}}
{{- printf "%s:%s" .repository (.tag | default $.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Minor versions of some providers end in `+`. */}}
{{- define "forbear.kubeVersion" -}}
{{- with .Capabilities.KubeVersion -}}
{{- $.Values.injection.kubeVersion | default (printf "%s.%s" .Major (.Minor | trimSuffix "+")) | trimPrefix "v" -}}
{{- end -}}
{{- end }}

{{- define "forbear.selectorLabels" -}}
app.kubernetes.io/name: forbear-webhook
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "forbear.labels" -}}
{{ include "forbear.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "forbear.clientConfig" -}}
clientConfig:
  service:
    name: {{ include "forbear.name" .root }}
    namespace: {{ .root.Release.Namespace }}
    path: {{ .path }}
  {{- if and (eq .root.Values.certificates.mode "secret") .root.Values.certificates.caBundle }}
  caBundle: {{ .root.Values.certificates.caBundle }}
  {{- end }}
{{- end }}
