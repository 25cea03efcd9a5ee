import type { Draft, Infer, KubeObject } from '@kubewright/api'
import { StatefulSet } from './generated/apps/v1.ts'
import type { HorizontalPodAutoscalerSpec as HpaV1Spec } from './generated/autoscaling/v1.ts'
import type * as events from './generated/events/v1.ts'
import {
  ClusterRole,
  ConfigMap,
  type Container,
  CronJob,
  CustomResourceDefinition,
  Deployment,
  type DeploymentList,
  type DeploymentSpec,
  type DeploymentStatus,
  type Event,
  HorizontalPodAutoscaler,
  Ingress,
  Lease,
  Namespace,
  Pod,
  type PodTemplateSpec,
  Role,
  RoleBinding,
  Scale,
  Secret,
  Service,
  SubjectAccessReview,
  TokenRequest,
} from './index.ts'
import { defaultRelease } from './releases.ts'
import { schemaOf } from './schemas.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const ok = <T extends true>(): void => void (0 as unknown as T)

// A kind is a value and a type. The type is the object when read.
ok<Equal<Deployment, typeof Deployment.$read>>()
ok<Equal<Infer<typeof Deployment>, Deployment>>()
ok<Equal<Draft<typeof Deployment>['spec'], DeploymentSpec>>()
ok<Equal<typeof Deployment.$status, DeploymentStatus>>()
ok<Equal<DeploymentList['items'], readonly Deployment[]>>()
ok<Equal<Deployment['apiVersion'], 'apps/v1'>>()
const object: KubeObject = {} as Deployment
void object

// Drafts.
const draft = Deployment({ metadata: { name: 'a' }, spec: { selector: {}, template: {} } })
draft.spec.replicas = 2
draft.metadata.labels = { app: 'a' }
Deployment({
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          {
            name: 'web',
            image: 'nginx',
            ports: [{ containerPort: 8080, protocol: 'TCP' }],
            resources: { limits: { cpu: '500m' } },
            livenessProbe: { httpGet: { path: '/', port: 'http' } },
          },
        ],
        volumes: [{ name: 'data', emptyDir: {} }],
      },
    },
  },
})
Service({ metadata: { name: 'a' }, spec: { selector: { app: 'a' }, ports: [{ port: 80, targetPort: 'http' }] } })
ConfigMap({ metadata: { name: 'a' }, data: { key: 'value' } })
Secret({ metadata: { name: 'a' }, stringData: { password: 'x' }, type: 'Opaque' })
Namespace({ metadata: { name: 'a' } })
Lease({ metadata: { name: 'a' } })
Role({ metadata: { name: 'a' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] })
ClusterRole({ metadata: { name: 'a' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } })
CronJob({ metadata: { name: 'a' }, spec: { schedule: '* * * * *', jobTemplate: { spec: { template: {} } } } })
Ingress({
  metadata: { name: 'a' },
  spec: { rules: [{ http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'a' } } }] } }] },
})
HorizontalPodAutoscaler({
  metadata: { name: 'a' },
  spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'a' }, metrics: [{ type: 'Resource' }] },
})
StatefulSet({
  metadata: { name: 'a' },
  spec: {
    selector: {},
    template: {},
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }],
  },
})
CustomResourceDefinition({
  metadata: { name: 'homes.example.com' },
  spec: {
    group: 'example.com',
    names: { kind: 'Home', plural: 'homes' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { spec: { type: 'array', items: { type: 'string' } } } },
        },
        subresources: { status: {} },
      },
    ],
  },
})
// Kinds that are sent but not stored need no name.
SubjectAccessReview({ spec: { user: 'ann', resourceAttributes: { verb: 'get', resource: 'pods' } } })
TokenRequest({ spec: { audiences: ['api'] } })
Scale({ metadata: { name: 'a' }, spec: { replicas: 2 } })

// Objects that are read have complete metadata and are deeply read-only.
declare const pod: Pod
const uid: string = pod.metadata.uid
const phase: 'Failed' | 'Pending' | 'Running' | 'Succeeded' | 'Unknown' | undefined = pod.status?.phase
const keys: readonly string[] = Object.keys(({} as ConfigMap).data ?? {})
const cpu: number | string | undefined = pod.spec.containers[0]?.resources?.requests?.['cpu']
void [uid, phase, keys, cpu]
// @ts-expect-error objects that are read are read-only
pod.spec.nodeName = 'a'
// @ts-expect-error their lists too
pod.spec.containers.push({ name: 'a' })
// @ts-expect-error their maps too
pod.metadata.labels!['a'] = 'b'
// @ts-expect-error a status may be absent
void pod.status.phase
// @ts-expect-error an optional field may be absent
const image: string = pod.spec.containers[0]!.image
void image

// Versions of one kind are different types.
ok<Equal<HpaV1Spec['maxReplicas'], number>>()
// @ts-expect-error metrics came with autoscaling/v2
void ({} as HpaV1Spec).metrics
ok<Equal<Event['apiVersion'], 'v1'>>()
ok<Equal<Infer<typeof events.Event>['apiVersion'], 'events.k8s.io/v1'>>()
// @ts-expect-error an event of one group is not an event of the other
const event: Event = {} as events.Event
void event

// Parts have named types, and their schemas have these types.
const container: Container = { name: 'a' }
const template: PodTemplateSpec = { spec: { containers: [container] } }
ok<Equal<NonNullable<ReturnType<typeof schemaOf<'io.k8s.api.core.v1.PodTemplateSpec'>>['$type']>, PodTemplateSpec>>()
void template
defaultRelease.kindFor({ group: '', version: 'v1', kind: 'Pod' })

// ---- Programs that must not compile.

// @ts-expect-error selector is required on a Deployment
Deployment({ metadata: { name: 'a' }, spec: { template: {} } })
// @ts-expect-error spec is required on a Deployment
Deployment({ metadata: { name: 'a' } })
// @ts-expect-error a stored object has a name
Deployment({ metadata: {}, spec: { selector: {}, template: {} } })
// @ts-expect-error unknown field
Deployment({ metadata: { name: 'a' }, spec: { selector: {}, template: {}, replica: 2 } })
// @ts-expect-error wrong type
Deployment({ metadata: { name: 'a' }, spec: { selector: {}, template: {}, replicas: '2' } })
// @ts-expect-error a status is not part of a draft
Deployment({ metadata: { name: 'a' }, spec: { selector: {}, template: {} }, status: {} })
// @ts-expect-error a container has a name
Pod({ metadata: { name: 'a' }, spec: { containers: [{ image: 'x' }] } })
// @ts-expect-error not one of the protocols
Pod({ metadata: { name: 'a' }, spec: { containers: [{ name: 'a', ports: [{ containerPort: 1, protocol: 'tcp' }] }] } })
// @ts-expect-error a ConfigMap has no spec
ConfigMap({ metadata: { name: 'a' }, spec: {} })
// @ts-expect-error data of a ConfigMap is text
ConfigMap({ metadata: { name: 'a' }, data: { key: 1 } })
// @ts-expect-error a rule has verbs
Role({ metadata: { name: 'a' }, rules: [{ resources: ['pods'] }] })
// @ts-expect-error a binding refers to a role
RoleBinding({ metadata: { name: 'a' }, subjects: [] })
// @ts-expect-error a schedule is needed
CronJob({ metadata: { name: 'a' }, spec: { jobTemplate: {} } })
// @ts-expect-error not a built-in definition
schemaOf('io.k8s.api.core.v1.PodTemplate')
