// The samples that the READMEs apply: each is accepted with strict validation and reconciled by its operator.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseManifests } from '@kubewright/api'
import type { Operator } from 'kubewright'
import { startTestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
import { operator as appService } from './app-service/src/operator.ts'
import { operator as cronJob } from './cron-job/src/operator.ts'
import { operator as fleet } from './fleet/src/operator.ts'
import { operator as foo } from './foo/src/operator.ts'
import { Fruit } from './fruit/src/fruit.ts'
import { fakeDns } from './home/src/dns.ts'
import { homeOperator } from './home/src/operator.ts'
import { operator as memcached } from './memcached/src/operator.ts'
import { operator as secSynch } from './sec-synch/src/operator.ts'
import { operator as shop } from './shop/src/operator.ts'

const operators: Readonly<Record<string, Operator | undefined>> = {
  'app-service': appService,
  'cron-job': cronJob,
  fleet,
  foo,
  fruit: undefined,
  home: homeOperator(fakeDns()),
  memcached,
  'sec-synch': secSynch,
  shop,
}

function samplesOf(example: string): object[] {
  const folder = join(import.meta.dirname, example, 'samples')
  return readdirSync(folder).flatMap((file) => parseManifests(readFileSync(join(folder, file), 'utf8')) as object[])
}

test.each(Object.entries(operators))('the samples of %s are accepted and reconciled', async (example, operator) => {
  await using env = await startTestEnv(operator, { time: 'virtual', install: [Fruit] })
  const samples = samplesOf(example)
  expect(samples.length).toBeGreaterThan(0)
  for (const sample of samples) {
    await env.client.apply(sample as never, { fieldManager: 'samples', fieldValidation: 'Strict' })
  }
  await env.settled()
  const results = env.reconciles().map(({ result }) => result)
  expect(results.filter((result) => result !== 'success' && result !== 'requeue_after')).toEqual([])
  expect(results.length > 0).toBe(operator !== undefined)
})
