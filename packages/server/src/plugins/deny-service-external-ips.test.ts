import { expect, test } from 'vitest'
import type { AdmissionAttributes } from '../admission/admission.ts'
import { denyServiceExternalIps } from './deny-service-external-ips.ts'

const service = (...externalIPs: string[]): object => ({ metadata: { name: 's' }, spec: { externalIPs } })
const review = async (object: object, old?: object): Promise<void> =>
  denyServiceExternalIps.validate?.({
    resource: { kind: { group: '', plural: 'services' } },
    subresource: '',
    operation: old ? 'UPDATE' : 'CREATE',
    name: 's',
    object,
    old,
  } as unknown as AdmissionAttributes)

test('denyServiceExternalIps refuses new external IPs and keeps existing ones', async () => {
  await expect(review(service('192.0.2.1'))).rejects.toThrow(
    'services "s" is forbidden: Use of external IPs is denied by admission control',
  )
  await expect(review(service('192.0.2.1', '192.0.2.2'), service('192.0.2.1'))).rejects.toThrow('denied')
  await expect(review(service('192.0.2.1'), service('192.0.2.1', '192.0.2.2'))).resolves.toBeUndefined()
  await expect(review(service())).resolves.toBeUndefined()
})
