import type { Duration } from '@kubewright/base'
import { toMillis } from '@kubewright/base'
import type { Pod } from '@kubewright/k8s'

/** How a simulated container behaves. */
export interface ContainerPlan {
  /** From the start of the pod until the container runs: what pulling and starting take. @default 0 */
  readonly startDelay?: Duration
  /** Why the image cannot be had, such as `ErrImagePull`: the container never starts. @default none */
  readonly imageError?: string
  /** From running until ready. @default 0 */
  readonly readyAfter?: Duration
  /** False for a container whose readiness probe never succeeds. @default true */
  readonly ready?: boolean
  /** How long it runs before it exits by itself. @default for ever; one second in pods that are not to be restarted always */
  readonly runFor?: Duration
  /** @default 0 */
  readonly exitCode?: number
  /** From the request to stop until it has stopped; the grace period of the pod cuts it short. @default 0 */
  readonly stopAfter?: Duration
  /** The lines that it writes when it starts. */
  readonly log?: readonly string[]
}

/**
 * How the containers of simulated nodes behave. What a pod's annotations say comes first: `kubewright.dev/run-for: 10s`, or
 * `kubewright.dev/run-for.sidecar: 10s` for the container `sidecar` only, and so on for `start-delay`, `image-error`, `ready-after`,
 * `ready`, `exit-code`, `stop-after` and `log`. A container that crashes over and over is one that runs for a while and exits with
 * another code than 0.
 */
export interface NodePlan {
  /** By image: the name in full, without its tag, or with `*` for any characters. The first one that matches counts. */
  readonly images?: Readonly<Record<string, ContainerPlan>>
  /** For all other images. */
  readonly default?: ContainerPlan
}

/** A {@link ContainerPlan} in milliseconds and with nothing left open. */
export interface ContainerScript {
  readonly startDelay: number
  readonly imageError: string | undefined
  readonly readyAfter: number
  readonly ready: boolean
  /** Undefined for ever. */
  readonly runFor: number | undefined
  readonly exitCode: number
  readonly stopAfter: number
  readonly log: readonly string[]
}

const prefix = 'kubewright.dev/'
// So that something is to be seen of a job.
const shortRun = 1000

/** The container of a pod, as far as its plan depends on it. */
export interface PlannedContainer {
  readonly name: string
  readonly image?: string | undefined
}

/** What becomes of a container by the plan and the annotations of its pod. Annotations that make no sense are ignored. */
export function scriptFor(plan: NodePlan, pod: Pod, container: PlannedContainer, isInit = false): ContainerScript {
  const found: ContainerPlan = {
    ...(byImage(plan, container.image ?? '') ?? plan.default),
    ...annotated(pod, container.name),
  }
  const { startDelay = 0, readyAfter = 0, stopAfter = 0, exitCode = 0 } = found
  const ends = isInit || (pod.spec.restartPolicy ?? 'Always') !== 'Always'
  const runFor = found.runFor ?? (ends || exitCode !== 0 ? (isInit ? 0 : shortRun) : undefined)
  return {
    startDelay: toMillis(startDelay),
    imageError: found.imageError,
    readyAfter: toMillis(readyAfter),
    ready: found.ready ?? true,
    runFor: runFor === undefined ? undefined : toMillis(runFor),
    exitCode,
    stopAfter: toMillis(stopAfter),
    log: found.log ?? [],
  }
}

function byImage({ images = {} }: NodePlan, image: string): ContainerPlan | undefined {
  const name = image.replace(/(@.*|:[^/]*)$/, '')
  for (const [pattern, plan] of Object.entries(images)) {
    if (pattern === image || pattern === name) return plan
    const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*')
    if (pattern.includes('*') && new RegExp(`^${escaped}$`).test(image)) return plan
  }
  return undefined
}

function annotated(pod: Pod, container: string): ContainerPlan {
  const annotations = pod.metadata.annotations ?? {}
  const text = (name: string): string | undefined =>
    annotations[`${prefix}${name}.${container}`] ?? annotations[`${prefix}${name}`]
  const time = (name: string): Duration | undefined => {
    const value = text(name)
    return value !== undefined && /^[0-9.]+(ms|s|m|h)$/.test(value) ? (value as Duration) : undefined
  }
  const code = text('exit-code')
  const ready = text('ready')
  return omit({
    startDelay: time('start-delay'),
    imageError: text('image-error'),
    readyAfter: time('ready-after'),
    ready: ready === 'true' || ready === 'false' ? ready === 'true' : undefined,
    runFor: time('run-for'),
    exitCode: code !== undefined && /^[0-9]{1,3}$/.test(code) ? Number(code) : undefined,
    stopAfter: time('stop-after'),
    log: text('log')?.split('\n'),
  })
}

function omit<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T
}

/** The annotation by which a pod asks for real processes instead of simulated ones. */
export const processAnnotation: string = `${prefix}process`
