import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { volumeAttachments } from './volume-attachment.ts'

const { createErrors } = strategyHarness(volumeAttachments)

const attachment = { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', metadata: { name: 'n' } }

describe('volume attachments', () => {
  test('require a source', async () => {
    expect(await createErrors({ ...attachment, spec: { attacher: 'example.com', nodeName: 'n', source: {} } })).toEqual(
      ['spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
    )
  })

  test('show attacher, volume and node', () => {
    expect(
      cellsOf(volumeAttachments, {
        spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'pv' } },
        status: { attached: true },
      }),
    ).toEqual(['x', 'a', 'pv', 'n', true, '60m'])
  })
})
