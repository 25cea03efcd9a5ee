import type { Duration } from '@kubewright/base'
import { toMillis } from '@kubewright/base'
import type { Pod } from '@kubewright/k8s'

/** The behaviour of a simulated container. */
export interface ContainerPlan {
  /** Delay from the start of the pod until the container runs, for pulling and starting. @default 0 */
  readonly startDelay?: Duration | undefined
  /** The reason why the image cannot be pulled, such as `ErrImagePull`. The container never starts. @default none */
  readonly imageError?: string | undefined
  /** Delay from running until ready. @default 0 */
  readonly readyAfter?: Duration | undefined
  /** False for a container whose readiness probe never succeeds. @default true */
  readonly ready?: boolean | undefined
  /**
   * How long the container runs before it exits. @default forever; one second in pods whose restart policy is not
   * Always
   */
  readonly runFor?: Duration | undefined
  /** @default 0 */
  readonly exitCode?: number | undefined
  /** Delay from SIGTERM until the container has stopped, limited by the pod's grace period. @default 0 */
  readonly stopAfter?: Duration | undefined
  /** The lines that the container logs when it starts. */
  readonly log?: readonly string[] | undefined
}

/**
 * The behaviour of the containers on simulated nodes. A pod's annotations take precedence: `kubewright.dev/run-for:
 * 10s`, or
 * `kubewright.dev/run-for.sidecar: 10s` for the container `sidecar` only. The other annotations are `start-delay`,
 * `image-error`,
 * `ready-after`, `ready`, `exit-code`, `stop-after` and `log`. To simulate a crash loop, combine `run-for` with an exit
 * code other
 * than 0.
 */
export interface NodePlan {
  /**
   * Plans by image: the full name, the name without its tag, or a pattern with `*` for any characters. The first match
   * wins.
   */
  readonly images?: Readonly<Record<string, ContainerPlan>> | undefined
  /** The plan for all other images. */
  readonly default?: ContainerPlan | undefined
}

/** A {@link ContainerPlan} with all defaults applied and durations in milliseconds. */
export interface ContainerScript {
  readonly startDelay: number
  readonly imageError: string | undefined
  readonly readyAfter: number
  readonly ready: boolean
  /** Undefined means forever. */
  readonly runFor: number | undefined
  readonly exitCode: number
  readonly stopAfter: number
  readonly log: readonly string[]
}

const prefix = 'kubewright.dev/'
// Long enough to observe a running job.
const shortRun = 1000

/** The fields of a container that its plan depends on. */
export interface PlannedContainer {
  readonly name: string
  readonly image?: string | undefined
}

/** Resolves the behaviour of a container from the plan and its pod's annotations. Invalid annotations are ignored. */
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
  const { annotations } = pod.metadata
  if (annotations === undefined) return {}
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

/** The annotation with which a pod requests real processes instead of simulated ones. */
export const processAnnotation: string = `${prefix}process`
