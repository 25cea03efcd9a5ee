// Our builder of kustomizations against kubectl kustomize, for each supported field.
import { parseManifests } from '@kubewright/api'
import { beforeEach, describe, expect, test } from 'vitest'
import { buildKustomization } from '../../packages/cli/src/kustomize/build-kustomization.ts'
import { Kubectl, kubectlMissing, kubectlTooOld } from '../kubectl/kubectl.ts'
import { TemporaryFolder } from './temporary-folder.ts'

beforeEach(({ skip }) => {
  const reason = kubectlMissing() ?? kubectlTooOld()
  if (reason !== undefined) skip(reason)
})

type Tree = Readonly<Record<string, string>>

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: system, labels: {a: b}}
spec:
  replicas: 1
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      serviceAccountName: app
      imagePullSecrets: [{name: pull}]
      containers:
      - name: main
        image: controller:latest
        args: [--a, --b]
        env: [{name: A, value: "1"}]
        envFrom: [{configMapRef: {name: settings}}, {secretRef: {name: keys}}]
        ports: [{containerPort: 80, name: http}]
      - {name: side, image: "registry:5000/side:v1@sha256:abc"}
      initContainers: [{name: first, image: controller}]
      volumes: [{name: v, configMap: {name: settings}}, {name: w, secret: {secretName: keys}}]
`
const account = 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: app, namespace: system}\n'
const binding = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: binding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: role}
subjects: [{kind: ServiceAccount, name: app, namespace: system}, {kind: ServiceAccount, name: default, namespace: x}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: role}
rules: [{apiGroups: [""], resources: [secrets], resourceNames: [keys], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: binding, namespace: system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: role}
subjects: [{kind: ServiceAccount, name: app, namespace: system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: role, namespace: system}
rules: []
`
const service = `apiVersion: v1
kind: Service
metadata: {name: hooks, namespace: system}
spec: {selector: {app: app}, ports: [{port: 443}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooks}
webhooks:
- name: a.example.com
  clientConfig: {service: {name: hooks, namespace: system, path: /a}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: hooks, namespace: system}}}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: system}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: thing}
spec: {list: [{name: a}], text: x, containers: [{image: "controller:1"}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: policy}
spec: {podSelector: {matchLabels: {app: app}}, ingress: [{from: [{podSelector: {matchLabels: {x: z}}}]}]}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: job}
spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {containers: [{name: main, image: controller}]}}}}}
`
const base: Tree = {
  'base/app.yaml': deployment,
  'base/account.yaml': account,
  'base/rbac.yaml': binding,
  'base/service.yaml': service,
  'base/kustomization.yaml': 'resources: [app.yaml, account.yaml, rbac.yaml, service.yaml]\n',
}
const over = (text: string, more: Tree = {}): Tree => ({
  ...base,
  ...more,
  'top/kustomization.yaml': `resources: [../base]\n${text}`,
})

const cases: Readonly<Record<string, Tree>> = {
  'resources only': over(''),
  'namespace, namePrefix and nameSuffix': over('namespace: there\nnamePrefix: pre-\nnameSuffix: -post\n'),
  'nested prefixes': {
    ...over('namePrefix: outer-\n'),
    'base/kustomization.yaml': `${base['base/kustomization.yaml']}namePrefix: inner-\nnamespace: inside\n`,
  },
  'labels of objects': over('labels: [{pairs: {team: "7"}}]\n'),
  'labels of templates': over('labels: [{pairs: {team: a}, includeTemplates: true}]\n'),
  'labels of selectors': over('labels: [{pairs: {team: a}, includeSelectors: true}]\n'),
  commonLabels: over('commonLabels: {team: a}\n'),
  commonAnnotations: over('commonAnnotations: {team: a}\n'),
  images: over(`images:
- {name: controller, newName: example.com/app, newTag: "1.10"}
- {name: registry:5000/side, digest: "sha256:def"}
`),
  'images by name or tag only': over(
    'images: [{name: controller, newTag: v2}, {name: registry:5000/side, newName: side}]\n',
  ),
  replicas: over('replicas: [{name: app, count: 3}]\n'),
  'strategic merge patches': over('patches: [{path: patch.yaml}]\n', {
    'top/patch.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: system, labels: {more: "1"}}
spec:
  template:
    spec:
      containers:
      - name: main
        args: [--c]
        env: [{name: B, value: "2"}, {name: A, value: "3"}]
        ports: [{containerPort: 81}]
      - {name: third, image: third}
      - {name: side, $patch: delete}
      volumes: [{name: z, emptyDir: {}}]
      nodeSelector: {disk: fast}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: thing}
spec: {list: [{name: b}], text: null}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: app, namespace: system}
$patch: delete
`,
  }),
  'strategic merge patches of the second item of a list': over('patches: [{path: patch.yaml}]\n', {
    'top/patch.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: app, namespace: system}
spec: {template: {spec: {containers: [{name: side, env: [{name: A, value: b}]}]}}}
`,
  }),
  'strategic merge patches with a target': over(`patches:
- target: {kind: Deployment|CronJob}
  patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: any, annotations: {a: b}}
- target: {labelSelector: a=b}
  patch: |-
    metadata:
      name: any
      labels: {seen: "yes"}
    kind: Any
    apiVersion: v1
`),
  'JSON patches': over(
    `patches:
- target: {group: apps, version: v1, kind: Deployment, name: ap.}
  path: json.yaml
patchesJson6902:
- target: {version: v1, kind: Service, name: hooks}
  patch: |-
    - {op: replace, path: /spec/ports/0/port, value: 8443}
`,
    {
      'top/json.yaml': `- op: add
  path: /spec/template/spec/containers/0/args/0
  value: --first
- {op: add, path: /spec/template/spec/containers/0/args/-, value: --last}
- {op: remove, path: /metadata/labels/a}
`,
    },
  ),
  patchesStrategicMerge: over(`patchesStrategicMerge:
- |-
  apiVersion: v1
  kind: Service
  metadata: {name: hooks, namespace: system}
  spec: {type: NodePort}
`),
  components: over('components: [../extra]\nnamePrefix: pre-\n', {
    'extra/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources: [map.yaml]
patches:
- target: {kind: Deployment}
  patch: "- {op: replace, path: /spec/replicas, value: 4}"
`,
    'extra/map.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: system}\ndata: {a: b}\n',
  }),
  'generators and their references': over(
    `namePrefix: pre-
namespace: there
configMapGenerator:
- {name: settings, namespace: system, literals: [a=1, "b='<x>&'"], files: [file.txt, other=file.txt], envs: [some.env]}
- {name: plain, literals: [a=1], options: {disableNameSuffixHash: true, labels: {l: m}, immutable: true}}
secretGenerator:
- {name: keys, namespace: system, literals: [password=secret], type: example.com/keys}
generatorOptions: {annotations: {note: well}}
`,
    { 'top/file.txt': 'one\ntwo\n', 'top/some.env': '# comment\nC=3\nD=four\n' },
  ),
  'generators that change those of a base': {
    ...over('configMapGenerator: [{name: settings, namespace: system, behavior: merge, literals: [b=2]}]\n'),
    'base/kustomization.yaml': `${base['base/kustomization.yaml']}configMapGenerator: [{name: settings, namespace: system, literals: [a=1]}]\n`,
  },
  configurations: over('namePrefix: pre-\nnamespace: there\nconfigurations: [config.yaml]\n', {
    'top/config.yaml': `nameReference:
- kind: Service
  version: v1
  fieldSpecs:
  - {kind: CustomResourceDefinition, group: apiextensions.k8s.io, path: spec/conversion/webhook/clientConfig/service/name}
`,
  }),
  transformers: over('namespace: there\ntransformers: [place.yaml]\n', {
    'top/place.yaml': `apiVersion: builtin
kind: PatchTransformer
metadata: {name: place}
patch: '[{"op": "replace", "path": "/metadata/namespace", "value": "here"}]'
target: {labelSelector: a=b}
`,
  }),
}

const byId = (objects: readonly unknown[]): Map<string, unknown> =>
  new Map(
    objects.map((value) => {
      const { kind, metadata } = value as { kind: string; metadata: { name: string; namespace?: string } }
      return [`${kind} ${metadata.namespace ?? ''}/${metadata.name}`, JSON.parse(JSON.stringify(value))]
    }),
  )

describe('buildKustomization()', () => {
  test.each(Object.entries(cases))('builds the objects of kubectl kustomize: %s', async (_, tree) => {
    using folder = new TemporaryFolder()
    folder.write(Object.entries(tree))
    const text = await new Kubectl('/dev/null', folder.path).run(['kustomize', `${folder.path}/top`])
    const built = buildKustomization(new Map(Object.entries(tree)), 'top').map(({ object }) => object)
    expect(byId(built)).toEqual(byId(parseManifests(text)))
  })
})
