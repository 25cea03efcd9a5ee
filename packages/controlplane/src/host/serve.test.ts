import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isKubewrightError } from '@kubewright/base'
import { connect } from '@kubewright/client'
import { Namespace } from '@kubewright/k8s'
import { MemoryStore } from '@kubewright/storage'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PlaneConfig } from '../config/plane-config.ts'
import { serve } from './serve.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-serve-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const small: PlaneConfig = { controllers: 'none', nodes: 0 }

/** Lists namespaces with the kubeconfig of a served control plane. */
async function namespaces(kubeconfig: string): Promise<readonly string[]> {
  const file = join(folder, 'kubeconfig')
  await writeFile(file, kubeconfig)
  await using client = await connect({ kubeconfig: file })
  return (await client.list(Namespace)).map(({ metadata }) => metadata.name)
}

describe('serve()', () => {
  test('listens on loopback, counts requests and writes the audit log', async () => {
    const audit = { file: join(folder, 'audit.log'), rotation: { maxBytes: 1e6, maxBackups: 0, maxAgeDays: 0 } }
    await using served = await serve({ ...small, audit })
    expect(served.url).toBe(`https://127.0.0.1:${served.port}`)
    expect(served.exposed).toEqual([])
    expect(await namespaces(served.kubeconfig)).toContain('default')
    expect(served.requests()).toBeGreaterThan(0)
    expect(await readFile(audit.file, 'utf8')).toContain('"requestURI":"/api/v1/namespaces')
  })

  test('keeps objects and keys in a folder', async () => {
    const config: PlaneConfig = { ...small, store: { kind: 'durable', folder: join(folder, 'data') } }
    const first = await serve(config)
    const kubeconfig = first.kubeconfig.replace(/server: .*/, '')
    await first.plane.client().create(Namespace({ metadata: { name: 'kept' } }))
    await first[Symbol.asyncDispose]()
    expect(await readdir(join(folder, 'data'))).toEqual(['pki', 'store'])
    await using second = await serve(config)
    expect(second.kubeconfig.replace(/server: .*/, '')).toBe(kubeconfig)
    expect(await namespaces(second.kubeconfig)).toContain('kept')
  })

  test('leaves an open store to the caller, and disposes what was added before it stops', async () => {
    await using store = new MemoryStore()
    const served = await serve({ ...small, store })
    let stopped = false
    served.onStop({ [Symbol.asyncDispose]: async () => void (stopped = true) })
    await served.drain()
    await served[Symbol.asyncDispose]()
    expect(stopped).toBe(true)
    expect(await store.revision()).toBeGreaterThan(0)
  })

  test('names the folder that it cannot use, and opens nothing for an unknown controller', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    const store = { kind: 'durable', folder: join(file, 'data') } as const
    const error: unknown = await serve({ ...small, store }).catch((reason: unknown) => reason)
    expect(isKubewrightError(error, 'KW_PLANE_FOLDER')).toBe(true)
    expect(error).toMatchObject({
      holds: 'objects',
      message: expect.stringContaining(`Cannot keep objects in ${file}`),
    })
    await expect(
      serve({ ...small, controllers: ['nosuch'], store: { kind: 'durable', folder: join(folder, 'new') } }),
    ).rejects.toThrow('unknown controller "nosuch"')
    expect(await readdir(folder)).toEqual(['file'])
  })
})
