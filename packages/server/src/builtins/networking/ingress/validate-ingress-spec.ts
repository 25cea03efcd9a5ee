import {
  isDNS1123Subdomain,
  isPathSegmentName,
  isValidPortName,
  isValidPortNum,
  isWildcardDNS1123Subdomain,
  nameIsDNS1035Label,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
  parseIPSloppy,
} from '@kubewright/base'
import type * as networking from '@kubewright/k8s/networking/v1'
import { type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import { structValue } from '../../checks/strategy-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

/** The spec of an Ingress as a client sends it. */
export type IngressSpec = Unchecked<networking.IngressSpec>
type Rule = Unchecked<networking.IngressRule>
type Backend = Unchecked<networking.IngressBackend>
type HttpPath = Unchecked<networking.HTTPIngressPath>

/** Which rules apply. An update may keep values of the stored object that a create must not have. */
export interface IngressOptions {
  /** Whether the names of TLS secrets are not checked. */
  readonly anySecretName: boolean
  /** Whether the paths of wildcard hosts are not checked. */
  readonly anyWildcardRule: boolean
  /** Whether service names may start with a digit. */
  readonly relaxedServiceName: boolean
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']
const badSequences = ['//', '/./', '/../', '%2f', '%2F']
const badEndings = ['/..', '/.']

/** Checks the spec of an Ingress (pkg/apis/networking/validation). */
export function validateIngressSpec(
  spec: IngressSpec,
  path: FieldPath,
  options: IngressOptions,
  errors: FieldError[],
): void {
  const rules = spec.rules ?? []
  if (rules.length === 0 && !spec.defaultBackend) {
    const text = 'either `defaultBackend` or `rules` must be specified'
    errors.push(invalid(path, structValue(spec.rules), text))
  }
  if (spec.defaultBackend) validateBackend(spec.defaultBackend, path.child('defaultBackend'), options, errors)
  for (const [i, rule] of rules.entries()) {
    const at = path.child('rules').index(i)
    const wildcard = rule.host?.includes('*') ?? false
    if (rule.host) checkHost(errors, at.child('host'), rule.host)
    if (!wildcard || !options.anyWildcardRule) validateRuleValue(rule, at, options, errors)
  }
  for (const [i, { hosts = [], secretName }] of (spec.tls ?? []).entries()) {
    const at = path.child('tls').index(i)
    for (const [k, host] of hosts.entries()) {
      const check = host.includes('*') ? isWildcardDNS1123Subdomain : isDNS1123Subdomain
      addInvalid(errors, at.child('hosts').index(k), host, check(host))
    }
    if (secretName && !options.anySecretName) {
      addInvalid(errors, at.child('secretName'), secretName, nameIsDNSSubdomain(secretName, false))
    }
  }
  const className = spec.ingressClassName
  if (className !== undefined) {
    addInvalid(errors, path.child('ingressClassName'), className, nameIsDNSSubdomain(className, false))
  }
}

function checkHost(errors: FieldError[], path: FieldPath, host: string): void {
  if (parseIPSloppy(host)) errors.push(invalid(path, host, 'must be a DNS name, not an IP address'))
  addInvalid(errors, path, host, host.includes('*') ? isWildcardDNS1123Subdomain(host) : isDNS1123Subdomain(host))
}

/** Checks the paths and backends of a rule. */
export function validateRuleValue(
  { http }: Rule,
  path: FieldPath,
  options: IngressOptions,
  errors: FieldError[],
): void {
  if (!http) return
  const pathsPath = path.child('http', 'paths')
  const paths = http.paths ?? []
  if (paths.length === 0) errors.push(required(pathsPath))
  for (const [i, each] of paths.entries()) validateHttpPath(each, pathsPath.index(i), options, errors)
}

function validateHttpPath(http: HttpPath, path: FieldPath, options: IngressOptions, errors: FieldError[]): void {
  const { pathType, path: text = '', backend = {} } = http
  if (pathType === undefined) {
    errors.push(required(path.child('pathType'), 'pathType must be specified'))
    return
  }
  const at = path.child('path')
  const absolute = text.startsWith('/')
  if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!absolute) errors.push(invalid(at, text, 'must be an absolute path'))
    for (const sequence of badSequences) {
      if (text.includes(sequence)) errors.push(invalid(at, text, `must not contain '${sequence}'`))
    }
    for (const ending of badEndings) {
      if (text.endsWith(ending)) errors.push(invalid(at, text, `cannot end with '${ending}'`))
    }
  } else if (pathType === 'ImplementationSpecific') {
    if (text !== '' && !absolute) errors.push(invalid(at, text, 'must be an absolute path'))
  } else errors.push(unsupported(path.child('pathType'), pathType, pathTypes))
  validateBackend(backend, path.child('backend'), options, errors)
}

function validateBackend(
  { resource, service }: Backend,
  path: FieldPath,
  options: IngressOptions,
  errors: FieldError[],
): void {
  if (resource && service) errors.push(invalid(path, '', 'cannot set both resource and service backends'))
  else if (resource) validateReference(resource, path.child('resource'), errors)
  else if (!service) errors.push(invalid(path, '', 'resource or service backend is required'))
  else {
    const { name = '', port = {} } = service
    const at = path.child('service')
    const check = options.relaxedServiceName ? nameIsDNSLabel : nameIsDNS1035Label
    if (name === '') errors.push(required(at.child('name')))
    else addInvalid(errors, at.child('name'), name, check(name, false))
    if (port.name && port.number) errors.push(invalid(path, '', 'cannot set both port name & port number'))
    else if (port.name) addInvalid(errors, at.child('port', 'name'), port.name, isValidPortName(port.name))
    else if (port.number) addInvalid(errors, at.child('port', 'number'), port.number, isValidPortNum(port.number))
    else errors.push(required(path, 'port name or number is required'))
  }
}

interface Reference {
  apiGroup?: string | undefined
  kind?: string | undefined
  name?: string | undefined
}

/** Checks a reference to an object of any kind. */
export function validateReference(reference: Reference, path: FieldPath, errors: FieldError[]): void {
  const { apiGroup } = reference
  if (apiGroup !== undefined) addInvalid(errors, path.child('apiGroup'), apiGroup, isDNS1123Subdomain(apiGroup))
  for (const field of ['kind', 'name'] as const) {
    const value = reference[field]
    if (!value) errors.push(required(path.child(field)))
    else addInvalid(errors, path.child(field), value, isPathSegmentName(value, false))
  }
}
