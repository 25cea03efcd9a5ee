import type { Manifest } from './manifest.ts'
import { labelsOf, type ObjectContext, ownMeta, podLabels } from './object-context.ts'
import { ownNamespace } from './operator-description.ts'

/** The port of the metrics server in the pod. */
export const metricsPort = 8443
/** The port of the webhook server in the pod. */
export const webhookPort = 9443
/** The path at which the certificate of cert-manager is mounted. */
export const certificateFolder = '/tmp/k8s-webhook-server/serving-certs'
/** The Secret in which cert-manager stores the certificate of the webhooks. */
export const certificateSecret = 'webhook-server-cert'

/** The namespace of the operator. */
export function managerNamespace(context: ObjectContext): Manifest {
  const { naming, operator, options } = context
  // The pods that an operator creates in its own namespace belong to its users, and may need more rights.
  const hasOtherPods = operator.namespaces.some((name) => name === ownNamespace || name === options.namespace)
  const labels = {
    ...labelsOf(context),
    'control-plane': 'controller-manager',
    ...(hasOtherPods ? {} : { 'pod-security.kubernetes.io/enforce': 'restricted' }),
  }
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { labels, name: naming.namespace } }
}

/** The Deployment of the operator in config/manager. The patches of config/default add metrics, webhooks and certificates. */
export function managerDeployment(context: ObjectContext): Manifest {
  const { operator, naming } = context
  const container = {
    args: [...(operator.leaderElection ? ['--leader-elect'] : []), '--health-probe-bind-address=:8081'],
    ...(operator.namespaces.includes(ownNamespace) ? { env: [watchOwnNamespace] } : {}),
    image: 'controller:latest',
    livenessProbe: {
      httpGet: { path: '/healthz', port: 8081 },
      initialDelaySeconds: 15,
      periodSeconds: 20,
    },
    name: 'manager',
    readinessProbe: {
      httpGet: { path: '/readyz', port: 8081 },
      initialDelaySeconds: 5,
      periodSeconds: 10,
    },
    // Node needs more idle memory than a Go program, and sizes its heap by the limit.
    resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '10m', memory: '96Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...ownMeta(context, 'controller-manager'),
      labels: { ...labelsOf(context), 'control-plane': 'controller-manager' },
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: podLabels(context) },
      template: {
        metadata: {
          annotations: { 'kubectl.kubernetes.io/default-container': 'manager' },
          labels: podLabels(context),
        },
        spec: {
          containers: [container],
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          serviceAccountName: `${naming.prefix}controller-manager`,
          terminationGracePeriodSeconds: 40,
        },
      },
    },
  }
}

/** The arguments that config/default adds to serve metrics. */
export const metricsArgs: readonly string[] = Object.freeze([`--metrics-bind-address=:${metricsPort}`])
/** The arguments that config/certmanager adds for the mounted certificate. It serves webhooks and metrics. */
export const certificateArgs: readonly string[] = Object.freeze([
  `--webhook-cert-path=${certificateFolder}`,
  `--metrics-cert-path=${certificateFolder}`,
])
/** The container port of the webhook server. */
export const webhookContainerPort: object = Object.freeze({
  containerPort: webhookPort,
  name: 'webhook-server',
  protocol: 'TCP',
})
/** The mount of the certificate in the container. */
export const certificateMount: object = Object.freeze({
  mountPath: certificateFolder,
  name: 'webhook-certs',
  readOnly: true,
})
/** The volume of the certificate. The name of the Secret does not depend on the prefix. */
export const certificateVolume: object = Object.freeze({
  name: 'webhook-certs',
  secret: { secretName: certificateSecret },
})

const watchOwnNamespace = {
  name: 'WATCH_NAMESPACE',
  valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } },
}

/** The Service of the metrics server. */
export function metricsService(context: ObjectContext): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...ownMeta(context, 'controller-manager-metrics-service'),
      labels: { ...labelsOf(context), 'control-plane': 'controller-manager' },
    },
    spec: {
      ports: [{ name: 'https', port: metricsPort, protocol: 'TCP', targetPort: metricsPort }],
      selector: podLabels(context),
    },
  }
}

/** The ServiceMonitor, with which the Prometheus operator scrapes the metrics. */
export function serviceMonitor(context: ObjectContext): Manifest {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: {
      ...ownMeta(context, 'controller-manager-metrics-monitor'),
      labels: { ...labelsOf(context), 'control-plane': 'controller-manager' },
    },
    spec: {
      endpoints: [
        {
          bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
          path: '/metrics',
          port: 'https',
          scheme: 'https',
          // The metrics server generates a self-signed certificate at each start, which nothing can verify.
          tlsConfig: { insecureSkipVerify: true },
        },
      ],
      selector: { matchLabels: podLabels(context) },
    },
  }
}

/** How Prometheus verifies the metrics server if cert-manager issues its certificate. */
export function metricsTls(context: ObjectContext): object {
  return { ca: { secret: { key: 'ca.crt', name: certificateSecret } }, serverName: metricsHost(context) }
}

function metricsHost({ operator, options }: ObjectContext): string {
  return `${operator.name}-controller-manager-metrics-service.${options.namespace}.svc`
}

/** Admits traffic to the metrics from namespaces with the label `metrics: enabled`. */
export function metricsNetworkPolicy(context: ObjectContext): Manifest {
  return networkPolicy(context, 'allow-metrics-traffic', {
    from: [{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }],
    ports: [{ port: metricsPort, protocol: 'TCP' }],
  })
}

/** Admits all traffic to the webhooks, because a selector cannot select API servers, which are not pods. */
export function webhookNetworkPolicy(context: ObjectContext): Manifest {
  return networkPolicy(context, 'allow-webhook-traffic', { ports: [{ port: webhookPort, protocol: 'TCP' }] })
}

function networkPolicy(context: ObjectContext, name: string, rule: object): Manifest {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: ownMeta(context, name),
    spec: { ingress: [rule], podSelector: { matchLabels: podLabels(context) }, policyTypes: ['Ingress'] },
  }
}

/** The objects with which cert-manager issues the certificate of the webhooks and the metrics. */
export function certificateObjects(context: ObjectContext): Manifest[] {
  const { operator, options, naming } = context
  const service = `${operator.name}-webhook-service.${options.namespace}.svc`
  const issuer = `${naming.prefix}selfsigned-issuer`
  return [
    {
      apiVersion: 'cert-manager.io/v1',
      kind: 'Issuer',
      metadata: ownMeta(context, 'selfsigned-issuer'),
      spec: { selfSigned: {} },
    },
    {
      apiVersion: 'cert-manager.io/v1',
      kind: 'Certificate',
      metadata: ownMeta(context, 'serving-cert'),
      spec: {
        dnsNames: [service, metricsHost(context)].flatMap((host) => [host, `${host}.cluster.local`]),
        issuerRef: { kind: 'Issuer', name: issuer },
        secretName: certificateSecret,
      },
    },
  ]
}

/** The annotation with which cert-manager injects its CA into an object. */
export function injection({ operator, options }: ObjectContext): Record<string, string> {
  return { 'cert-manager.io/inject-ca-from': `${options.namespace}/${operator.name}-serving-cert` }
}
