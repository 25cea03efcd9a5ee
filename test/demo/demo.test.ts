import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, test } from 'vitest'
import { openStage } from '../../tools/demo-stage.ts'

const root = join(import.meta.dirname, '..', '..')
let child: ChildProcess | undefined

function startDemo(...args: string[]) {
  const command = ['--conditions=kubewright-source', '--import', 'tsx', 'tools/demo.ts', ...args]
  const started = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  child = started
  const lines: string[] = []
  const reader = createInterface({ input: started.stdout })
  reader.on('line', (line) => lines.push(line))
  const closed = once(started, 'close').then(([code]) => code as number)
  /** Resolves when a line contains the text. */
  const line = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      reader.on('line', (one) => {
        if (one.includes(text)) resolve()
      })
      void closed.then(() => reject(new Error(`ended without "${text}":\n${lines.join('\n')}`)))
    })
  return { child: started, lines, line, closed }
}

afterEach(() => {
  child?.kill('SIGKILL')
})

describe('npm run demo', () => {
  test('--once runs all chapters and exits', async () => {
    const demo = startDemo('--once')
    const code = await demo.closed
    const text = demo.lines.join('\n')
    expect(code, text).toBe(0)
    for (const part of [
      /\+ Deployment home-sample +0\/2 ready/,
      /~ Home +home-sample +3\/3 ready/,
      /~ Deployment home-sample +3\/3 ready, miner:6\n.*~ Deployment home-sample +3\/3 ready, nginx:1\.27/,
      /Error from server \(Invalid\): admission webhook "vhome-v1\.kb\.io" denied/,
      /- Secret +a2\/secret-a +gone/,
      /- DNS name +home-sample\.homes\.my\.domain/,
      /✓ The demo succeeded/,
    ])
      expect(text).toMatch(part)
    // Without a terminal the output has no colours.
    expect(text).not.toContain('\u001b')
  })

  test('stops on SIGINT and removes the kubeconfig', async () => {
    const demo = startDemo()
    await demo.line('A Home is created')
    const kubeconfig = join(root, '.kubewright', 'demo.kubeconfig')
    expect(existsSync(kubeconfig)).toBe(true)
    demo.child.kill('SIGINT')
    expect(await demo.closed).toBe(0)
    expect(existsSync(kubeconfig)).toBe(false)
    expect(demo.lines.at(-1)).toBe('Stopped and cleaned up.')
  })

  test('openStage() reports a folder that is not writable, without a stack trace', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kubewright-demo-'))
    try {
      const file = join(folder, 'file')
      writeFileSync(file, '')
      await expect(openStage(join(file, 'demo.kubeconfig'))).rejects.toThrow(
        `Cannot write the kubeconfig to ${file}/demo.kubeconfig as it is not a folder (EEXIST): make it writable`,
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
