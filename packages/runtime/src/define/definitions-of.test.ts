import { defineResource } from '@kubewright/api'
import { ConfigMap } from '@kubewright/k8s'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { defineKeyController } from '../controller/key-controller.ts'
import { channelSource } from '../controller/sources/channel-source.ts'
import { defineController } from './define-controller.ts'
import { defineOperator } from './define-operator.ts'
import { defineWebhook } from './define-webhook.ts'
import { definitionsOf } from './definitions-of.ts'

const define = (kind: string) =>
  defineResource({ group: 'example.com', version: 'v1', kind, spec: s.object({ size: s.int() }) })

describe('definitionsOf()', () => {
  test('returns the CRD of each custom kind once, and none of built-in kinds', () => {
    const [Home, Door, Lamp, Wall] = [define('Home'), define('Door'), define('Lamp'), define('Wall')]
    const operator = defineOperator({
      name: 'homes',
      kinds: [define('Roof'), ConfigMap],
      controllers: [
        defineController(Home, { owns: [ConfigMap, Door], reconcile: async () => undefined }),
        defineKeyController({ name: 'keys', kind: Lamp, sources: [channelSource()], reconcile: async () => undefined }),
      ],
      webhooks: [defineWebhook(Home, { default: () => undefined }), defineWebhook(Wall, { default: () => undefined })],
    })
    expect(definitionsOf(operator).map(({ metadata }) => metadata.name)).toEqual([
      'doors.example.com',
      'homes.example.com',
      'lamps.example.com',
      'roofs.example.com',
      'walls.example.com',
    ])
  })
  test('omits kinds that another project installs when asked to', () => {
    const Foreign = defineResource({ group: 'foreign.example.com', version: 'v1', kind: 'Foreign', external: true })
    const operator = defineOperator({
      name: 'homes',
      controllers: [defineController(define('Home'), { owns: [Foreign], reconcile: async () => undefined })],
    })
    const names = (external: boolean): string[] =>
      definitionsOf(operator, { external }).map(({ metadata }) => metadata.name)
    expect(names(true)).toEqual(['foreigns.foreign.example.com', 'homes.example.com'])
    expect(names(false)).toEqual(['homes.example.com'])
  })
})
