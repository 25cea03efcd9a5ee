// The task and the report of all operators of the runtime benchmark: for each Site, they write a ConfigMap and a
// status. A program prints a line when its first Site is done and another when all are done, and then runs until it is
// killed.
import { peakMiB } from '../peak-memory.ts'

/** The command line of an operator. */
export interface OperatorTask {
  readonly kubeconfig: string
  readonly namespace: string
  readonly workers: number
  /** The number of Sites, without the first. */
  readonly sites: number
}

export const group = 'bench.example.com'
export const version = 'v1'
export const plural = 'sites'
/** The annotation with the creation time of a Site, in milliseconds since the epoch. */
export const madeAt = 'bench.example.com/made-at'

export function taskOfArguments(): OperatorTask {
  const [kubeconfig = '', namespace = '', workers = '1', sites = '0'] = process.argv.slice(2)
  return { kubeconfig, namespace, workers: Number(workers), sites: Number(sites) }
}

function cpuMillis(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Records the progress of Sites and prints the figures. */
export class Progress {
  readonly #task: OperatorTask
  readonly #done = new Set<string>()
  readonly #latencies: number[] = []
  #firstCpu = 0

  constructor(task: OperatorTask) {
    this.#task = task
  }

  /** Records that the status of a Site was written. */
  finished(name: string, annotations: Readonly<Record<string, string>> | undefined): void {
    if (this.#done.has(name)) return
    this.#done.add(name)
    if (this.#done.size === 1) {
      this.#firstCpu = cpuMillis()
      // Measures the idle process after its start.
      setTimeout(() => {
        this.#print({ firstMillis: this.#firstCpu, idleMiB: process.memoryUsage.rss() / 1048576 })
        this.#firstCpu = cpuMillis()
      }, 2000)
      return
    }
    this.#latencies.push(Date.now() - Number(annotations?.[madeAt]))
    if (this.#done.size <= this.#task.sites) return
    const sorted = this.#latencies.toSorted((a, b) => a - b)
    const quantile = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] ?? 0
    this.#print({
      perSiteMillis: (cpuMillis() - this.#firstCpu) / this.#task.sites,
      peakMiB: peakMiB(),
      p50: quantile(0.5),
      p99: quantile(0.99),
    })
  }

  #print(figures: object): void {
    process.stdout.write(`${JSON.stringify(figures)}\n`)
  }
}
