import { expect, test } from 'vitest'
import { systemProcessHost } from './system-process-host.ts'

const host = systemProcessHost()
const node = (script: string, onLine: (line: string) => void = () => undefined, env = {}) =>
  host.start({ command: [process.execPath, '-e', script], env, onLine })

test('systemProcessHost() runs a program with its environment and passes on its output', async () => {
  const lines: string[] = []
  const child = node(
    'console.log(process.env.GREETING); console.error("b"); process.exitCode = 3',
    (line) => lines.push(line),
    {
      GREETING: 'hello',
    },
  )
  expect(await child.exited).toBe(3)
  expect(lines.sort()).toEqual(['b', 'hello'])
})

test('systemProcessHost() reports a stopped program with the exit code of a shell', async () => {
  const child = await new Promise<ReturnType<typeof node>>((resolve) => {
    const started = node('console.log("up"); setInterval(() => {}, 1000)', () => resolve(started))
  })
  child.stop(10_000)
  expect(await child.exited).toBe(143)
})

test('systemProcessHost() reports a program that cannot be started', async () => {
  const lines: string[] = []
  const missing = host.start({ command: ['/no/such/program'], env: {}, onLine: (line) => lines.push(line) })
  expect(await missing.exited).toBe(127)
  const nothing = host.start({ command: [], env: {}, onLine: (line) => lines.push(line) })
  expect(await nothing.exited).toBe(127)
  expect(lines).toHaveLength(2)
})
