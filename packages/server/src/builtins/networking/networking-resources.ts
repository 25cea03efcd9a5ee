import type { BuiltinTable } from '../builtin-resources.ts'
import { ingresses } from './ingress/ingress.ts'
import { ingressClasses } from './ingress-class/ingress-class.ts'
import { ipAddresses } from './ip-address/ip-address.ts'
import { networkPolicies } from './network-policy/network-policy.ts'
import { serviceCidrs } from './service-cidr/service-cidr.ts'

/** The resources of the networking.k8s.io group. */
export const networkingResources: BuiltinTable = {
  'networking.k8s.io/ingressclasses': ingressClasses,
  'networking.k8s.io/ingresses': ingresses,
  'networking.k8s.io/ipaddresses': ipAddresses,
  'networking.k8s.io/networkpolicies': networkPolicies,
  'networking.k8s.io/servicecidrs': serviceCidrs,
}
