import type { Manifest } from './manifest.ts'
import { clusterMeta, labelsOf, type ObjectContext, ownMeta, podLabels } from './object-context.ts'
import { hasWebhooks, ownNamespace } from './operator-description.ts'

/** Where metrics are served in a pod. */
export const metricsPort = 8443
/** Where webhooks are served in a pod. */
export const webhookPort = 9443
/** Where the pod finds the certificate that cert-manager looks after. */
export const certificateFolder = '/tmp/k8s-webhook-server/serving-certs'
/** The Secret that cert-manager writes the certificate of the webhooks to. */
export const certificateSecret = 'webhook-server-cert'

/** The namespace that the operator runs in. */
export function managerNamespace(context: ObjectContext): Manifest {
  const { naming } = context
  const labels = { ...labelsOf(context), 'control-plane': 'controller-manager' }
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { labels, name: naming.namespace } }
}

/** The Deployment of the operator: as config/manager has it, or with all that config/default adds. */
export function managerDeployment(context: ObjectContext, form: 'base' | 'whole'): Manifest {
  const { operator, options, naming } = context
  const isWhole = form === 'whole'
  const webhooks = isWhole && hasWebhooks(operator)
  const mounts = webhooks && options.certManager
  const args = [
    ...(isWhole ? metricsArgs : []),
    ...(operator.leaderElection ? ['--leader-elect'] : []),
    '--health-probe-bind-address=:8081',
    ...(mounts ? certificateArgs : []),
  ]
  const container = {
    args,
    ...(operator.namespaces.includes(ownNamespace) ? { env: [watchOwnNamespace] } : {}),
    image: isWhole ? options.image : 'controller:latest',
    livenessProbe: {
      httpGet: { path: '/healthz', port: 8081 },
      initialDelaySeconds: 15,
      periodSeconds: 20,
    },
    name: 'manager',
    // No empty lists: servers drop them, and kubectl would set them anew with every apply.
    ...(webhooks ? { ports: [webhookContainerPort] } : {}),
    readinessProbe: {
      httpGet: { path: '/readyz', port: 8081 },
      initialDelaySeconds: 5,
      periodSeconds: 10,
    },
    // Node takes more memory at rest than a Go program, and sizes its heap by the limit.
    resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '10m', memory: '96Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    ...(mounts ? { volumeMounts: [certificateMount] } : {}),
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
          ...(mounts ? { volumes: [certificateVolume] } : {}),
        },
      },
    },
  }
}

/** What config/default adds to the arguments so that metrics are served. */
export const metricsArgs: readonly string[] = Object.freeze([`--metrics-bind-address=:${metricsPort}`])
/** What config/default adds to the arguments where the certificate is mounted. */
export const certificateArgs: readonly string[] = Object.freeze([`--webhook-cert-path=${certificateFolder}`])
/** The port of the webhooks in the pod. */
export const webhookContainerPort: object = Object.freeze({
  containerPort: webhookPort,
  name: 'webhook-server',
  protocol: 'TCP',
})
/** How the container sees the certificate. */
export const certificateMount: object = Object.freeze({
  mountPath: certificateFolder,
  name: 'webhook-certs',
  readOnly: true,
})
/** How the pod sees the certificate. The name of the Secret is the same whatever the prefix. */
export const certificateVolume: object = Object.freeze({
  name: 'webhook-certs',
  secret: { secretName: certificateSecret },
})

const watchOwnNamespace = {
  name: 'WATCH_NAMESPACE',
  valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } },
}

/** Where Prometheus finds the metrics. */
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

/** Has Prometheus, where its operator runs, scrape the metrics. */
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
          // The certificate of the metrics is made up at each start.
          tlsConfig: { insecureSkipVerify: true },
        },
      ],
      selector: { matchLabels: podLabels(context) },
    },
  }
}

/** Lets namespaces labelled `metrics: enabled` reach the metrics. */
export function metricsNetworkPolicy(context: ObjectContext): Manifest {
  return networkPolicy(context, 'allow-metrics-traffic', {
    from: [{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }],
    ports: [{ port: metricsPort, protocol: 'TCP' }],
  })
}

/** Lets everybody reach the webhooks: API servers are no pods, so that no selector can mean them. */
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

/** Has cert-manager make a certificate for the webhooks. */
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
        dnsNames: [service, `${service}.cluster.local`],
        issuerRef: { kind: 'Issuer', name: issuer },
        secretName: certificateSecret,
      },
    },
  ]
}

/** Has cert-manager write its authority into an object; empty where certificates are the operator's own business. */
export function injection({ operator, options }: ObjectContext): Record<string, string> {
  if (!options.certManager) return {}
  return { 'cert-manager.io/inject-ca-from': `${options.namespace}/${operator.name}-serving-cert` }
}

/** Metadata of an object without a namespace that cert-manager writes to. */
export function injectedMeta(context: ObjectContext, name: string): Manifest['metadata'] {
  const annotations = injection(context)
  return { ...(context.options.certManager ? { annotations } : {}), ...clusterMeta(context, name) }
}
