import type { AdmissionPlugin } from '../admission/admission.ts'
import { admissionForbidden, isAbout } from './admission-forbidden.ts'

type ServiceLike = { readonly spec?: { readonly externalIPs?: readonly string[] | null | undefined } | undefined }

/** Refuses services with new external IPs (plugin/pkg/admission/network/denyserviceexternalips). Those that a service has may stay. */
export const denyServiceExternalIps: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  resources: ['/services'],
  validate: async (attributes) => {
    const { object, old, operation } = attributes
    if (!isAbout(attributes, '', 'services') || (operation !== 'CREATE' && operation !== 'UPDATE')) return
    const before = (old as ServiceLike | undefined)?.spec?.externalIPs ?? []
    const added = ((object as ServiceLike).spec?.externalIPs ?? []).filter((ip) => !before.includes(ip))
    if (added.length > 0) throw admissionForbidden(attributes, 'Use of external IPs is denied by admission control')
  },
}
