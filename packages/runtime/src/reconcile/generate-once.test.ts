import { controllerRef, isConflict } from '@kubewright/api'
import { Secret } from '@kubewright/k8s'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Controller, defineController } from '../define/define-controller.ts'
import { generateOnce } from './generate-once.ts'
import { type Bench, startBench } from './testdata/bench.ts'
import { Home } from './testdata/home.ts'

let bench: Bench
let generated: number
let seen: string[]
beforeEach(async () => {
  bench = await startBench()
  generated = 0
  seen = []
  await bench.client.create(Home({ metadata: { name: 'cosy' }, spec: { image: 'a' } }))
})
afterEach(async () => {
  await bench[Symbol.asyncDispose]()
})

const next = (): string => `text-${++generated}`
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const stored = async () => (await bench.client.get(Secret, 'login')).data
const createRequest = 'POST /api/v1/namespaces/default/secrets'

function controller(keys: readonly string[] = ['password']): Controller {
  return defineController(Home, {
    owns: [Secret],
    async reconcile(home, context) {
      const texts = await generateOnce(context, home, 'login', Object.fromEntries(keys.map((key) => [key, next])))
      seen.push(...Object.values(texts))
    },
  })
}

/** What another replica does at the same time. */
async function createLogin(data: Record<string, string>): Promise<void> {
  const home = await bench.client.get(Home, 'cosy')
  await bench.client.create(Secret({ metadata: { name: 'login', ownerReferences: [controllerRef(home)] }, data }))
}

describe('generateOnce()', () => {
  test('stores the texts in a Secret of the owner, and later returns them without a write', async () => {
    const reconcile = bench.run(controller())
    await reconcile('default/cosy')
    await reconcile('default/cosy')
    const home = await bench.client.get(Home, 'cosy')
    const { data, metadata } = await bench.client.get(Secret, 'login')
    expect([seen, data, metadata.ownerReferences]).toEqual([
      ['text-1', 'text-1'],
      { password: base64('text-1') },
      [controllerRef(home)],
    ])
    expect([generated, bench.writes()]).toEqual([1, [createRequest]])
  })

  test('returns the text of another replica that was faster, although the cache did not show it', async () => {
    bench.before = async ({ text }) => {
      if (text === createRequest) await createLogin({ password: base64('theirs') })
    }
    await bench.run(controller())('default/cosy')
    expect([seen, await stored()]).toEqual([['theirs'], { password: base64('theirs') }])
  })

  test('returns no text that may not be stored, and keeps the stored one when the response is lost', async () => {
    bench.after = ({ text }) => {
      if (text === createRequest) throw new Error('connection lost')
    }
    const reconcile = bench.run(controller())
    await expect(reconcile('default/cosy')).rejects.toThrow('connection lost')
    expect(seen).toEqual([])
    await bench.run(controller())('default/cosy')
    expect([seen, await stored()]).toEqual([['text-1'], { password: base64('text-1') }])
  })

  test('adds missing texts and keeps the others; a change at the same time is a conflict', async () => {
    await createLogin({ password: base64('old') })
    const reconcile = bench.run(controller(['password', 'token']))
    bench.before = async ({ text }) => {
      if (text.startsWith('PATCH')) await bench.client.patch(Secret, 'login', { data: { token: base64('theirs') } })
    }
    const failure = await reconcile('default/cosy').catch((error: unknown) => error)
    expect([isConflict(failure), seen]).toEqual([true, []])
    bench.before = () => undefined
    await reconcile('default/cosy')
    expect(seen).toEqual(['old', 'theirs'])
  })

  test('refuses a Secret of another owner, and waits for the deletion of that of an earlier owner', async () => {
    await bench.client.create(Secret({ metadata: { name: 'login' }, data: { password: base64('foreign') } }))
    const reconcile = bench.run(controller())
    await expect(reconcile('default/cosy')).rejects.toMatchObject({ code: 'KW_NOT_OUR_CHILD' })
    await bench.client.delete(Secret, 'login')
    await createLogin({ password: base64('earlier') })
    await bench.client.delete(Home, 'cosy')
    await bench.client.create(Home({ metadata: { name: 'cosy' }, spec: { image: 'a' } }))
    await expect(reconcile('default/cosy')).rejects.toMatchObject({ code: 'KW_RETRY_LATER' })
    expect(seen).toEqual([])
  })
})
