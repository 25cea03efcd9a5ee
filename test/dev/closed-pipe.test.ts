import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packedModules } from '../scaffold/packed-modules.ts'

test('kubewright exits with the code of the result even if its output pipes are closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubewright-pipe-'))
  try {
    const file = join(folder, 'pod.yaml')
    writeFileSync(file, 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: Not_A_Name\n')
    const program = [join(await packedModules(), '.bin/kubewright'), 'validate', file]
    const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    child.stderr.destroy()
    expect(await once(child, 'exit')).toEqual([1, null])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
