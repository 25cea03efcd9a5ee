import type { KubeObject } from '@kubewright/api'
import { type Duration, KubewrightError, type Logger, toMillis } from '@kubewright/base'
import type { ProcessHost } from '@kubewright/controllers'
import type { Operator } from '@kubewright/runtime'
import type { FaultDefinition, FaultFacts } from '../define/define-fault.ts'
import { FaultKinds } from '../define/fault-kinds.ts'
import { inputObjectsOf } from '../plan/input-objects.ts'
import { selectorsOf } from '../plan/metadata-variants.ts'
import { OperatorFacts } from '../plan/operator-facts.ts'
import { Samples } from '../plan/samples.ts'
import { prepareCluster, type StartCluster } from './start-cluster.ts'

/** Creates the operator of one process. All its calls to the outside must go through `world`. */
export type OperatorFactory<World> = (parts: { readonly world: World }) => Operator

/** The options of a simulation that concern each run. */
export interface RunOptions<World = unknown> {
  /**
   * Objects to work with. Those of kinds that the operator controls are created, changed and deleted; the others are
   * created before the operator starts. ConfigMaps and Secrets among these are deleted and restored, and changed if the
   * operator watches their kind, unless they are immutable; so are objects of other kinds that it watches. @default one generated object of each kind that the operator controls
   */
  readonly samples?: readonly object[] | undefined
  /** The minor release of Kubernetes to serve, such as `1.36`. @default the newest stable one */
  readonly kubernetes?: string | undefined
  /** Creates the state outside the cluster, once per schedule. It survives crashes of the operator. @default none */
  readonly world?: (() => World) | undefined
  /**
   * Runs the containers of pods with the annotation `kubewright.dev/process: "true"`: the members of the system that the
   * operator manages. `world` is that of the schedule, without faults. @default the containers do nothing but report their state
   */
  readonly processes?: ((world: World) => ProcessHost) | undefined
  /** How long requests of the operator take, in virtual time. @default ['1ms', '5ms'] */
  readonly latency?: readonly [Duration, Duration] | undefined
  /** The number of replicas in schedules about leader election. @default 2 if the operator elects a leader, else 1 */
  readonly replicas?: number | undefined
  /** Paths of fields and kinds that are not compared, such as `status.lastBackup` and `Backup`. @default none */
  readonly ignore?: readonly string[] | undefined
  /**
   * Whether the operator leaves the children of such an object as they are, for example while it is paused. The end state is not compared
   * then, because it depends on the earlier forms of the object. @default a field such as `paused` or `suspend` is true
   */
  readonly isHeld?: ((object: KubeObject) => boolean) | undefined
  /** The names of oracles that are not checked. @default none */
  readonly without?: readonly string[] | undefined
  /** The maximum number of writes to one object within ten minutes at rest. @default 60 */
  readonly writesAtRest?: number | undefined
  /** The maximum number of requests of the operator in one schedule. @default 3000 */
  readonly maxRequests?: number | undefined
  /** Receives the log lines of the operator. @default none */
  readonly log?: Logger | undefined
}

/** Everything that all runs of a simulation share: the operator, its samples, the cluster to start from and the limits. */
export class Setup {
  readonly operator: OperatorFacts
  readonly samples: Samples
  readonly cluster: StartCluster
  readonly faults: FaultKinds
  readonly without: ReadonlySet<string>
  readonly ignore: readonly string[]
  readonly latency: readonly [number, number]
  readonly maxRequests: number
  readonly writesAtRest: number
  readonly log: Logger | undefined
  readonly replicas: number
  readonly createOperator: OperatorFactory<unknown>
  /** Creates the state outside the cluster. */
  readonly createWorld: RunOptions['world']
  /** Creates what runs the containers, in the state outside the cluster. */
  readonly createProcesses: RunOptions['processes']

  private constructor(parts: SetupParts, options: RunOptions) {
    this.operator = parts.operator
    this.samples = parts.samples
    this.cluster = parts.cluster
    this.faults = parts.faults
    this.createOperator = parts.createOperator
    this.createWorld = options.world
    this.createProcesses = options.processes
    this.without = new Set(options.without ?? [])
    this.ignore = options.ignore ?? []
    const [low, high] = options.latency ?? ['1ms', '5ms']
    this.latency = [toMillis(low), toMillis(high)]
    this.maxRequests = options.maxRequests ?? 3000
    this.writesAtRest = options.writesAtRest ?? 60
    this.log = options.log
    this.replicas = options.replicas ?? (parts.operator.definition.leaderElection === false ? 1 : 2)
  }

  static async create<World>(
    given: Operator | OperatorFactory<World>,
    options: RunOptions<World>,
    faults: readonly FaultDefinition[],
  ): Promise<Setup> {
    const createOperator = (typeof given === 'function' ? given : () => given) as OperatorFactory<unknown>
    const operator = new OperatorFacts(createOperator({ world: options.world?.() }))
    const objects = (options.samples ?? []) as readonly KubeObject[]
    const { cluster, samples: list } = await prepareCluster(operator.definition, objects, options.kubernetes)
    if (list.length === 0) {
      throw new KubewrightError(
        'KW_SIMULATION_SAMPLES',
        `Cannot simulate operator "${operator.definition.name}": none of the samples is of a kind that it controls, and none could be generated; pass 'samples'`,
      )
    }
    const inputs = objects.filter(({ kind }) => list.every((sample) => sample.kind.kind !== kind))
    const names = new Set(objects.map(({ metadata }) => metadata.name))
    const selectors = selectorsOf(operator.definition)
    const inputObjects = inputObjectsOf(inputs, { kinds: operator.followed, selectors, names })
    const samples = new Samples(list, objects, inputObjects, options.isHeld)
    const parts = { operator, samples, cluster, createOperator, faults: new FaultKinds(faults) }
    return new Setup(parts, options as RunOptions)
  }

  /** The facts that decide which faults are possible. */
  get faultFacts(): FaultFacts {
    const { watchedResources, hasWebhooks } = this.operator
    const { hasPods, hasVolumes } = this.cluster
    return { watchedResources, hasWebhooks, hasPods, hasVolumes, replicas: this.replicas }
  }
}

type SetupParts = Pick<Setup, 'operator' | 'samples' | 'cluster' | 'faults' | 'createOperator'>
