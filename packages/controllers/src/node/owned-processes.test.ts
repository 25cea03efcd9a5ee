import { Deferred, systemClock, VirtualClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { OwnedProcesses } from './owned-processes.ts'
import { systemProcessHost } from './system-process-host.ts'

/** Starts a Node script; resolves when the script has printed its first line. */
async function running(processes: OwnedProcesses, script: string): Promise<{ exited: Promise<number> }> {
  const said = new Deferred<void>()
  const command = [process.execPath, '-e', script]
  const { exited } = processes.start({ command, env: {}, onLine: () => said.resolve() })
  await said.promise
  return { exited }
}

const forever = 'setInterval(() => {}, 1000)'

test('OwnedProcesses stops real processes, kills those that do not stop, and kills their children', async () => {
  const processes = new OwnedProcesses({ host: systemProcessHost(), clock: systemClock, stopGrace: '200ms' })
  const polite = await running(processes, `process.on('SIGTERM', () => process.exit(3)); console.log('up'); ${forever}`)
  const deaf = await running(processes, `process.on('SIGTERM', () => {}); console.log('up'); ${forever}`)
  // The child inherits its parent's output, which stays open while the child lives and delays the parent's close event.
  const child = `const { spawn } = require('node:child_process'); spawn(process.execPath, ['-e', 'console.log(1); ${forever}'], { stdio: 'inherit' })`
  const parent = await running(processes, `${child}; ${forever}`)
  await processes[Symbol.asyncDispose]()
  expect(await Promise.all([polite.exited, deaf.exited, parent.exited])).toEqual([3, 137, 143])
})

test('OwnedProcesses refuses to start processes after disposal', async () => {
  const processes = new OwnedProcesses({ host: systemProcessHost(), clock: systemClock, stopGrace: '1s' })
  await processes[Symbol.asyncDispose]()
  const lines: string[] = []
  const late = processes.start({
    command: [process.execPath, '-v'],
    env: {},
    onLine: (line) => lines.push(line),
  })
  expect(await late.exited).toBe(137)
  expect(lines).toEqual(['Not started: the nodes are being stopped'])
})

test('OwnedProcesses reports a process that cannot be killed, and does not wait forever', async () => {
  const clock = new VirtualClock()
  const graces: number[] = []
  const host = {
    start: () => ({ exited: new Promise<number>(() => undefined), stop: (ms: number) => graces.push(ms) }),
  }
  const processes = new OwnedProcesses({ host, clock, stopGrace: '2s' })
  processes.start({ command: ['etcd', '--name=a'], env: {}, onLine: () => undefined })
  const ending = processes[Symbol.asyncDispose]()
  const refused = expect(ending).rejects.toThrow('Timed out after 7s: the end of "etcd --name=a"')
  await clock.advance('7s')
  await refused
  expect(graces).toEqual([2000])
})
