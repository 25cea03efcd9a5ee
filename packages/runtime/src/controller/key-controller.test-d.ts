// Types of keys that the compiler must infer.
import { defineKeyController } from './key-controller.ts'
import { keyType } from './key-type.ts'
import { channelSource } from './sources/channel-source.ts'

const sources = [channelSource()]
defineKeyController({ name: 'text', sources, reconcile: (key) => void key.toUpperCase() })
defineKeyController({
  name: 'typed',
  sources,
  keys: keyType('tenant', 'region'),
  reconcile: async ({ tenant, region }, { log }) => log.info('Reconciled', { tenant, region }),
})
defineKeyController({
  name: 'typo',
  sources,
  keys: keyType('tenant', 'region'),
  // @ts-expect-error the key has no such part
  reconcile: ({ zone }) => void zone,
})
// @ts-expect-error without `keys` a key is a text
defineKeyController({ name: 'untyped', sources, reconcile: ({ tenant }: { tenant: string }) => void tenant })
// @ts-expect-error a part is missing
keyType('tenant', 'region').format({ tenant: 'a' })
