import { expect, test } from 'vitest'
import { type AdmissionAttributes, AdmissionChain } from '../admission/admission.ts'
import { alwaysPullImages } from './always-pull-images.ts'

test('alwaysPullImages sets the policy of all images, unless an update has no new ones', async () => {
  const pod = (image: string) => ({
    metadata: { name: 'p' },
    spec: {
      initContainers: [{ name: 'i', image, imagePullPolicy: 'Never' }],
      containers: [{ name: 'c', image, imagePullPolicy: 'IfNotPresent' }],
      volumes: [{ name: 'v' }, { name: 'w', image: { reference: 'r', pullPolicy: 'Never' } }],
    },
  })
  const admitted = async (object: ReturnType<typeof pod>, old?: object) => {
    const attributes = {
      resource: { kind: { group: '', plural: 'pods' } },
      subresource: '',
      operation: old ? 'UPDATE' : 'CREATE',
      object,
      old,
    }
    await new AdmissionChain([alwaysPullImages]).mutate(attributes as unknown as AdmissionAttributes)
    const { initContainers, containers, volumes } = object.spec
    return [...initContainers, ...containers].map((one) => one.imagePullPolicy).concat(volumes[1]!.image!.pullPolicy)
  }
  expect(await admitted(pod('a'))).toEqual(['Always', 'Always', 'Always'])
  expect(await admitted(pod('b'), pod('a'))).toEqual(['Always', 'Always', 'Always'])
  expect(await admitted(pod('a'), pod('a'))).toEqual(['Never', 'IfNotPresent', 'Never'])
})
