// Measures the start of complete processes: `kubewright up` as built, and kube-apiserver with etcd, if both are on PATH.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Suite } from './harness.ts'
import { KubeApiserver } from './server/kube-apiserver.ts'
import { KubewrightUp } from './server/kubewright-up.ts'
import { measureStart } from './server/measure.ts'

const root = join(import.meta.dirname, '..')
const rounds = 7
const firsts = 3

const millis = (value: number): string => `${Math.round(value).toLocaleString('en')} ms`
const factor = (ours: number, theirs: number): string => `${(theirs / ours).toFixed(1)}×`

/** The cost of starting the server as a process. */
export const suite: Suite = {
  title: 'Start',
  about: `From the start of the process to the line that reports it ready, without controllers. CPU of all threads; the best of ${rounds} starts. The first start of a version compiles its code and keeps it for later ones; it is measured without that code, the best of ${firsts} starts. Idle memory is the resident memory 1.5 s later. The peer is kube-apiserver with etcd; it has no memory mode, so it is durable in all rows.`,
  report: async () => {
    execFileSync(process.execPath, ['--import', 'tsx', 'tools/bundle.ts'], { cwd: root, stdio: 'ignore' })
    const peer = KubeApiserver.versions()
    const theirs = peer === undefined ? undefined : await measureStart(() => KubeApiserver.start(), 2)
    const heads = [
      'work',
      'CPU',
      'memory',
      'elapsed',
      ...(peer === undefined ? [] : [peer, 'its memory', 'its elapsed']),
    ]
    const lines = [`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`]
    for (const [name, count, start] of [
      ['start to ready, memory', rounds, () => KubewrightUp.start('--memory')],
      ['start to ready, durable', rounds, () => KubewrightUp.start()],
      ['first start of a version, memory', firsts, () => KubewrightUp.startFirst('--memory')],
    ] as const) {
      // Compiles the code.
      await (await start()).stop()
      const ours = await measureStart(start, count)
      const cells = [name, millis(ours.cpuMillis), `${ours.idleMiB.toFixed(0)} MiB`, millis(ours.wallMillis)]
      if (theirs) {
        cells.push(
          `${millis(theirs.cpuMillis)} (${factor(ours.cpuMillis, theirs.cpuMillis)})`,
          `${theirs.idleMiB.toFixed(0)} MiB (${factor(ours.idleMiB, theirs.idleMiB)})`,
          `${millis(theirs.wallMillis)} (${factor(ours.wallMillis, theirs.wallMillis)})`,
        )
      }
      lines.push(`| ${cells.join(' | ')} |`)
    }
    return lines
  },
}
