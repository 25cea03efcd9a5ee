import { nameIsDNSLabel, nameIsDNSSubdomain } from '@kubewright/base'
import type * as flowcontrol from '@kubewright/k8s/flowcontrol/v1'
import { type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import { resetForStatus } from '../../checks/reset-for-status.ts'
import { part, specPath, structValue } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkMandatorySchema } from '../mandatory-specs.ts'
import { validateFlowConditions } from '../validate-flow-conditions.ts'
import { flowSchemaTable } from './flow-schema-table.ts'

type Spec = Unchecked<flowcontrol.FlowSchemaSpec>
type PolicyRules = Unchecked<flowcontrol.PolicyRulesWithSubjects>
type Subject = NonNullable<PolicyRules['subjects']>[number]
type ResourceRule = NonNullable<PolicyRules['resourceRules']>[number]
type UrlRule = NonNullable<PolicyRules['nonResourceRules']>[number]

const maxPrecedence = 10_000
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const subjectKinds = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const

/** FlowSchemas (pkg/registry/flowcontrol/flowschema). */
export const flowSchemas: BuiltinDefinition = defineBuiltin({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'flowschemas',
  table: flowSchemaTable,
  ...withStatus(
    {
      validateName: nameIsDNSSubdomain,
      metadataOnUpdate: ['create'],
      setDefaults: (object) => {
        const spec = (object['spec'] ??= {}) as Spec
        spec.matchingPrecedence ||= 1000
      },
      generation: true,
      validate: validateSchema,
      validateUpdate: validateSchema,
    },
    { resets: ['metadata', 'spec'], prepareForUpdate: resetForStatus, validateUpdate: validateFlowConditions },
  ),
})

function validateSchema(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const spec = part<Spec>(object, 'spec')
  const { matchingPrecedence: precedence = 0, distinguisherMethod, priorityLevelConfiguration, rules = [] } = spec
  const precedencePath = specPath.child('matchingPrecedence')
  if (precedence <= 0) errors.push(invalid(precedencePath, precedence, 'must be a positive value'))
  if (precedence > maxPrecedence) {
    errors.push(invalid(precedencePath, precedence, `must not be greater than ${maxPrecedence}`))
  }
  if (precedence === 1 && object.metadata.name !== 'exempt') {
    const text = "only the schema named 'exempt' may have matchingPrecedence 1"
    errors.push(invalid(precedencePath, precedence, text))
  }
  const methods = ['ByNamespace', 'ByUser']
  if (distinguisherMethod && !methods.includes(distinguisherMethod.type ?? '')) {
    const shown = structValue({ Type: distinguisherMethod.type ?? '' })
    errors.push(unsupported(specPath.child('distinguisherMethod', 'type'), shown, methods))
  }
  const level = priorityLevelConfiguration?.name ?? ''
  const levelPath = specPath.child('priorityLevelConfiguration', 'name')
  if (level === '') errors.push(required(levelPath, 'must reference a priority level'))
  else addInvalid(errors, levelPath, level, nameIsDNSSubdomain(level, false))
  for (const [i, rule] of rules.entries()) validateRules(rule, specPath.child('rules').index(i), errors)
  checkMandatorySchema(errors, object.metadata.name ?? '', spec)
  return [...errors, ...validateFlowConditions(object)]
}

function validateRules(rules: PolicyRules, path: FieldPath, errors: FieldError[]): void {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rules
  if (subjects.length === 0) {
    errors.push(required(path.child('subjects'), 'subjects must contain at least one value'))
  }
  for (const [i, subject] of subjects.entries()) validateSubject(subject, path.child('subjects').index(i), errors)
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    errors.push(required(path, 'at least one of resourceRules and nonResourceRules has to be non-empty'))
  }
  for (const [i, rule] of resourceRules.entries()) {
    validateResourceRule(rule, path.child('resourceRules').index(i), errors)
  }
  for (const [i, rule] of nonResourceRules.entries()) {
    validateUrlRule(rule, path.child('nonResourceRules').index(i), errors)
  }
}

function validateSubject(subject: Subject, path: FieldPath, errors: FieldError[]): void {
  const { kind = '' } = subject
  if (!Object.hasOwn(subjectKinds, kind)) {
    errors.push(unsupported(path.child('kind'), kind, ['Group', 'ServiceAccount', 'User']))
    return
  }
  const own = subjectKinds[kind as keyof typeof subjectKinds]
  const found = subject[own]
  const at = path.child(own)
  if (!found) errors.push(required(at, `${own} is required when subject kind is '${kind}'`))
  else {
    if (!found.name) errors.push(required(at.child('name')))
    if (own === 'serviceAccount') validateServiceAccount(subject.serviceAccount!, at, errors)
  }
  for (const [otherKind, field] of Object.entries(subjectKinds)) {
    if (field === own || !subject[field]) continue
    errors.push(forbidden(path.child(field), `${field} is forbidden when subject kind is not '${otherKind}'`))
  }
}

function validateServiceAccount(
  { name = '', namespace = '' }: NonNullable<Subject['serviceAccount']>,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (name !== '' && name !== '*') addInvalid(errors, path.child('name'), name, nameIsDNSSubdomain(name, false))
  if (namespace === '') errors.push(required(path.child('namespace'), 'must specify namespace for service account'))
  else addInvalid(errors, path.child('namespace'), namespace, nameIsDNSLabel(namespace, false))
}

function validateVerbs(wanted: readonly string[], path: FieldPath, errors: FieldError[]): void {
  if (wanted.length === 0) errors.push(required(path, 'verbs must contain at least one value'))
  else if (wanted.includes('*')) checkLonelyStar(errors, path, wanted, 'verbs')
  else if (!wanted.every((verb) => verbs.includes(verb))) errors.push(unsupported(path, wanted, verbs))
}

function checkLonelyStar(errors: FieldError[], path: FieldPath, values: readonly string[], what: string): void {
  if (values.length > 1 && values.includes('*')) {
    errors.push(invalid(path, values, `if '*' is present, must not specify other ${what}`))
  }
}

function validateUrlRule(
  { verbs: wanted = [], nonResourceURLs: urls = [] }: UrlRule,
  path: FieldPath,
  errors: FieldError[],
): void {
  validateVerbs(wanted, path.child('verbs'), errors)
  const at = path.child('nonResourceURLs')
  if (urls.length === 0) errors.push(required(at, 'nonResourceURLs must contain at least one value'))
  else if (urls.includes('*')) checkLonelyStar(errors, at, urls, 'non-resource URLs')
  else {
    for (const [i, url] of urls.entries()) {
      const problem = urlProblem(url)
      if (problem !== undefined) errors.push(invalid(at.index(i), url, problem))
    }
  }
}

function urlProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty'
  if (path === '/') return undefined
  if (!path.startsWith('/')) return 'must start with slash'
  if (path.includes(' ')) return 'must not contain white-space'
  if (path.includes('//')) return 'must not contain double slash'
  const stars = path.split('*').length - 1
  return stars > 1 || (stars === 1 && !path.endsWith('/*')) ? 'wildcard can only do suffix matching' : undefined
}

function validateResourceRule(rule: ResourceRule, path: FieldPath, errors: FieldError[]): void {
  const { apiGroups = [], resources = [], namespaces = [] } = rule
  validateVerbs(rule.verbs ?? [], path.child('verbs'), errors)
  if (apiGroups.length === 0) {
    errors.push(required(path.child('apiGroups'), 'resource rules must supply at least one api group'))
  }
  checkLonelyStar(errors, path.child('apiGroups'), apiGroups, 'api groups')
  if (resources.length === 0) {
    errors.push(required(path.child('resources'), 'resource rules must supply at least one resource'))
  }
  checkLonelyStar(errors, path.child('resources'), resources, 'resources')
  const at = path.child('namespaces')
  if (namespaces.length === 0 && !rule.clusterScope) {
    errors.push(required(at, 'resource rules that are not cluster scoped must supply at least one namespace'))
  } else if (namespaces.includes('*')) checkLonelyStar(errors, at, namespaces, 'namespaces')
  else {
    for (const [i, namespace] of namespaces.entries()) {
      for (const problem of nameIsDNSLabel(namespace, false)) {
        const text = `each member of this list must be '*' or a DNS-1123 label; ${problem}`
        errors.push(invalid(at.index(i), namespace, text))
      }
    }
  }
}
