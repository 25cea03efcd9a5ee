import type { Container, PodLike, PodSpec, PodTemplate, Probe, ResourceList } from '../pod-types.ts'
import { aggregateContainerLimits, aggregateContainerRequests, isPodLevelResource } from '../resources/pod-resources.ts'
import { defaultResourceList } from '../resources/resource-list.ts'
import { imageTag } from '../warnings/image-tag.ts'
import { defaultVolume } from './default-volume.ts'

/** Fills the defaults of a pod: those of its spec, and those that a pod template does not get. */
export function defaultPod(pod: PodLike): void {
  const spec = (pod.spec ??= {})
  defaultPodSpec(spec)
  for (const list of [spec.containers, spec.initContainers]) {
    for (const { resources } of list ?? []) {
      if (!resources?.limits) continue
      const requests: ResourceList = (resources.requests ??= {})
      for (const [name, amount] of Object.entries(resources.limits)) requests[name] ??= amount
      if (Object.keys(requests).length === 0) delete resources.requests
    }
    if (spec.hostNetwork) {
      for (const { ports } of list ?? []) {
        for (const port of ports ?? []) if (port.containerPort) port.hostPort ||= port.containerPort
      }
    }
  }
  defaultPodLevelResources(spec)
  spec.enableServiceLinks ??= true
  // Older versions accepted negative periods. They count as the shortest one.
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1
  if (pod.status) mirrorPodIps(pod.status)
}

/** Keeps `podIP` equal to the first of `podIPs`. Where they differ, `podIP` wins, because older kubelets set nothing else. */
function mirrorPodIps(status: NonNullable<PodLike['status']>): void {
  const first = status.podIPs?.[0]?.ip
  if (status.podIP && status.podIP !== first) status.podIPs = [{ ip: status.podIP }]
  else if (first) status.podIP = first
}

/** Fills the defaults of a pod template. */
export function defaultPodTemplate(template: PodTemplate): void {
  defaultPodSpec((template.spec ??= {}))
}

/** Fills the defaults of the spec of a pod or a pod template (core/v1/defaults.go, SetDefaults_PodSpec). */
export function defaultPodSpec(spec: PodSpec): void {
  spec.dnsPolicy ||= 'ClusterFirst'
  spec.restartPolicy ||= 'Always'
  spec.securityContext ??= {}
  spec.terminationGracePeriodSeconds ??= 30
  spec.schedulerName ||= 'default-scheduler'
  mirrorServiceAccount(spec)
  for (const volume of spec.volumes ?? []) defaultVolume(volume)
  for (const container of spec.initContainers ?? []) defaultContainer(container)
  for (const container of spec.containers ?? []) defaultContainer(container)
  // An ephemeral container adds only targetContainerName, which has no default.
  for (const container of spec.ephemeralContainers ?? []) defaultContainer(container as Container)
  defaultResourceList(spec.overhead)
  defaultResourceList(spec.resources?.limits)
  defaultResourceList(spec.resources?.requests)
}

/** Keeps the deprecated `serviceAccount` equal to `serviceAccountName`, and uses it as default of the latter. */
function mirrorServiceAccount(spec: PodSpec): void {
  spec.serviceAccountName ||= spec.serviceAccount
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName
  else {
    delete spec.serviceAccountName
    delete spec.serviceAccount
  }
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy ||= imageTag(container.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
  container.terminationMessagePath ||= '/dev/termination-log'
  container.terminationMessagePolicy ||= 'File'
  container.resources ??= {}
  for (const port of container.ports ?? []) port.protocol ||= 'TCP'
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ||= 'v1'
    if (valueFrom?.fileKeyRef) valueFrom.fileKeyRef.optional ??= false
    if (valueFrom?.resourceFieldRef) valueFrom.resourceFieldRef.divisor ??= '0'
  }
  defaultResourceList(container.resources.limits)
  defaultResourceList(container.resources.requests)
  defaultProbe(container.livenessProbe)
  defaultProbe(container.readinessProbe)
  defaultProbe(container.startupProbe)
  defaultHttpGet(container.lifecycle?.postStart?.httpGet)
  defaultHttpGet(container.lifecycle?.preStop?.httpGet)
}

function defaultProbe(probe: Probe | undefined): void {
  if (!probe) return
  probe.timeoutSeconds ||= 1
  probe.periodSeconds ||= 10
  probe.successThreshold ||= 1
  probe.failureThreshold ||= 3
  defaultHttpGet(probe.httpGet)
  if (probe.grpc) probe.grpc.service ??= ''
}

function defaultHttpGet(get: Probe['httpGet']): void {
  if (!get) return
  get.path ||= '/'
  get.scheme ||= 'HTTP'
}

/** Fills the requests of the pod as a whole from the requests of its containers, then from the limits of the pod. */
function defaultPodLevelResources({ resources, ...spec }: PodSpec): void {
  if (!resources) return
  const has = (list: ResourceList | undefined): boolean => Object.keys(list ?? {}).length > 0
  if (has(resources.limits) || has(resources.requests)) {
    const limits: ResourceList = resources.limits ?? {}
    for (const [name, amount] of aggregateContainerLimits(spec)) {
      if (!name.startsWith('hugepages-') || resources.requests?.[name] !== undefined) continue
      limits[name] ??= amount.toString()
    }
    if (has(limits)) resources.limits = limits
  }
  if (!has(resources.limits)) return
  const requests: ResourceList = resources.requests ?? {}
  for (const [name, amount] of aggregateContainerRequests(spec)) {
    if (name === 'cpu' || name === 'memory') requests[name] ??= amount.toString()
  }
  for (const [name, amount] of Object.entries(resources.limits ?? {})) {
    if (isPodLevelResource(name)) requests[name] ??= amount
  }
  if (has(requests)) resources.requests = requests
}
