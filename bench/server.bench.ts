// Measures complete processes: `kubewright up` as built, with clients in this process over HTTP/2; and kube-apiserver,
// if it is on PATH.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Suite } from './harness.ts'
import { KubeApiserver } from './server/kube-apiserver.ts'
import { KubewrightUp } from './server/kubewright-up.ts'
import type { Measured } from './server/load.ts'
import { listed, measureEvents, measureIdleWatches, measureList, measureRequests } from './server/measure.ts'

const root = join(import.meta.dirname, '..')
/** Shown if the run has no peer: figures of another machine, for the order of magnitude. */
const noPeer =
  'No ratios, because kube-apiserver and etcd were not on PATH. A kube-apiserver v1.35.8 with etcd took 6 ms for a create and 3 to 4 ms for a get, on another, loaded machine of this kind.'

const millis = (value: number): string =>
  `${value < 10 ? value.toFixed(value < 0.1 ? 4 : 3) : Math.round(value).toLocaleString('en')} ms`
const rate = (perSecond: number): string => `${perSecond < 100 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`
const verdict = (value: number, aim: number | undefined): string =>
  aim === undefined ? '' : ` (target ${aim}: ${value <= aim ? 'met' : 'missed'})`
const factor = (ours: number, theirs: number): string => `${(theirs / ours).toFixed(1)}×`

/** Returns a row for the server and, if there is one, its peer. */
function row(work: string, ours: Measured, theirs: Measured | undefined, aim?: number): string {
  const cells = [work, millis(ours.cpuMillis) + verdict(ours.cpuMillis, aim), rate(ours.perSecond)]
  if (theirs) {
    cells.push(`${millis(theirs.cpuMillis)} (${factor(ours.cpuMillis, theirs.cpuMillis)})`)
    cells.push(`${rate(theirs.perSecond)} (${factor(theirs.perSecond, ours.perSecond)})`)
  }
  return `| ${cells.join(' | ')} |`
}

/** The cost of the server as a process. */
export const suite: Suite = {
  title: 'Server',
  about: `CPU of all cores per request, and requests per second, with clients in another process over HTTP/2 and TLS. Objects are ConfigMaps of 1.5 KiB with managedFields. Writes are durable, that is, answered when they are on disk, except in rows for memory. The peer is kube-apiserver with etcd (CPU and memory of both) under the same load in the same run; it has no memory mode, so it is durable in all rows. Except for the first creates of a process, each row shows the round with the least CPU of three after a warm-up of 15,000 writes, 5,000 gets or 20 lists, of which the peer gets a quarter of the writes and gets, or half with watchers: its code is compiled from the start. A factor is how many times more CPU the peer takes, or how many times more requests per second Kubewright serves.`,
  report: async () => {
    execFileSync(process.execPath, ['--import', 'tsx', 'tools/bundle.ts'], { cwd: root, stdio: 'ignore' })
    const peer = KubeApiserver.versions()
    const lines = peer === undefined ? [noPeer, ''] : []
    const heads = ['work', 'CPU', 'rate', ...(peer === undefined ? [] : [peer, 'its rate'])]
    lines.push(`| ${heads.join(' | ')} |`, `|${'---|'.repeat(heads.length)}`)
    const theirs = new Map<string, Measured>()
    const theirIdle = new Map<string, number>()
    const listWork = `list of ${listed.toLocaleString('en')} objects, memory`
    if (peer !== undefined) {
      await using server = await KubeApiserver.start()
      for (const [work, measured] of await measureRequests(server, 0.25)) theirs.set(work, measured)
      await using second = await KubeApiserver.start()
      theirs.set(listWork, await measureList(second))
      await using third = await KubeApiserver.start()
      try {
        for (const [work, measured] of await measureEvents(third, 0.5)) theirs.set(work, measured)
        for (const [work, kib] of await measureIdleWatches(() => KubeApiserver.start())) theirIdle.set(work, kib)
      } catch (error) {
        console.error(`The watches of kube-apiserver are not measured: ${String(error)}`)
      }
    }
    const aims: Readonly<Record<string, number>> = { create: 0.4, get: 0.1 }
    await using server = await KubewrightUp.start()
    const ours = await measureRequests(server)
    for (const [work, measured] of ours) {
      const [operation] = work.split(',') as [string]
      lines.push(row(work, measured, theirs.get(work), aims[operation]))
    }
    for (const clients of ['1 client', '10 clients']) {
      const of = (operation: string): number => ours.get(`${operation}, ${clients}`)!.cpuMillis
      const share = (of('create') / of('create a custom resource with rules')) * 100
      const cells = [
        `custom resources with rules, ${clients}, by CPU`,
        `${share.toFixed(0)} % of the rate of ConfigMaps (target 80: ${share >= 80 ? 'met' : 'missed'})`,
      ]
      lines.push(`| ${[...cells, ...heads.slice(cells.length).map(() => '')].join(' | ')} |`)
    }
    await using second = await KubewrightUp.start('--memory')
    lines.push(row(listWork, await measureList(second), theirs.get(listWork), 25))
    await using third = await KubewrightUp.start('--memory')
    for (const [work, measured] of await measureEvents(third)) {
      const peerEvent = theirs.get(work)
      lines.push(row(work, measured, peerEvent, peerEvent && Number((peerEvent.cpuMillis / 5).toFixed(4))))
    }
    for (const [work, kib] of await measureIdleWatches(() => KubewrightUp.start('--memory'))) {
      const cells = [work, `${kib.toFixed(0)} KiB${verdict(kib, 20)}`, '']
      const peerKib = theirIdle.get(work)
      if (peerKib !== undefined) cells.push(`${peerKib.toFixed(0)} KiB (${factor(kib, peerKib)})`, '')
      lines.push(`| ${cells.join(' | ')} |`)
    }
    return lines
  },
}
