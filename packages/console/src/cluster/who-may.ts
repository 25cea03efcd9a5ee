import { textOf } from '@kubewright/base'
import type { RestClient } from '@kubewright/client'
import type { AccessView, SubjectView } from '../wire/access-view.ts'
import type { ObjectName } from '../wire/names.ts'
import { type Json, listAt, objectAt } from './json.ts'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] as const
const rbac = '/apis/rbac.authorization.k8s.io/v1'

/** A binding with the rules of its role. */
interface Grant {
  readonly binding: string
  readonly subjects: readonly string[]
  readonly rules: readonly Json[]
}

/**
 * Lists for each verb who may use it on an object: the user of the client, as the API server decides it, and the
 * subjects of RBAC bindings. Members of system:masters may do everything and are in no binding.
 */
export async function whoMay(object: ObjectName, rest: RestClient): Promise<AccessView[]> {
  const [allowed, grants] = await Promise.all([
    Promise.all(verbs.map((verb) => mayI(verb, object, rest))),
    readGrants(object.namespace, rest).catch(() => undefined),
  ])
  return verbs.map((verb, index) => ({
    verb,
    isAllowed: allowed[index] ?? false,
    subjects: grants === undefined ? undefined : subjectsOf(grants, verb, object),
  }))
}

async function mayI(verb: string, { resource, namespace, name }: ObjectName, rest: RestClient): Promise<boolean> {
  const { group, version, plural } = resource
  const resourceAttributes = { verb, group, version, resource: plural, namespace, name }
  const body = JSON.stringify({
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  })
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  return objectAt(await rest.json({ method: 'POST', path, body }), 'status')['allowed'] === true
}

async function readGrants(namespace: string | undefined, rest: RestClient): Promise<Grant[]> {
  const read = async (path: string): Promise<Json[]> => listAt(await rest.json({ method: 'GET', path }), 'items')
  const local = (plural: string): string | undefined =>
    namespace === undefined ? undefined : `${rbac}/namespaces/${encodeURIComponent(namespace)}/${plural}`
  const [roles, bindings] = [local('roles'), local('rolebindings')]
  const [clusterRoles, clusterBindings, localRoles, localBindings] = await Promise.all([
    read(`${rbac}/clusterroles`),
    read(`${rbac}/clusterrolebindings`),
    roles === undefined ? [] : read(roles),
    bindings === undefined ? [] : read(bindings),
  ])
  const rulesOf = (binding: Json): Json[] => {
    const { kind, name } = objectAt(binding, 'roleRef')
    const known = kind === 'ClusterRole' ? clusterRoles : localRoles
    return listAt(
      known.find((role) => nameOf(role) === name),
      'rules',
    )
  }
  const grant =
    (kind: string) =>
    (binding: Json): Grant => ({
      binding: `${kind} ${nameOf(binding)}`,
      subjects: listAt(binding, 'subjects').map(subjectText),
      rules: rulesOf(binding),
    })
  return [...clusterBindings.map(grant('ClusterRoleBinding')), ...localBindings.map(grant('RoleBinding'))]
}

function subjectsOf(grants: readonly Grant[], verb: string, object: ObjectName): SubjectView[] {
  return grants
    .filter(({ rules }) => rules.some((rule) => allows(rule, verb, object)))
    .flatMap(({ subjects, binding }) => subjects.map((subject) => ({ subject, binding })))
}

/** Whether a rule of a role allows a verb on an object. */
function allows(rule: Json, verb: string, { resource, name }: ObjectName): boolean {
  const includes = (field: string, wanted: string): boolean => {
    const list = rule[field]
    return Array.isArray(list) && (list.includes(wanted) || list.includes('*'))
  }
  const names = rule['resourceNames']
  const isNamed = !Array.isArray(names) || names.length === 0 || names.includes(name)
  return (
    isNamed &&
    includes('verbs', verb) &&
    includes('apiGroups', resource.group) &&
    includes('resources', resource.plural)
  )
}

function subjectText({ kind, name, namespace }: Json): string {
  const scope = textOf(namespace)
  return `${textOf(kind)} ${scope === '' ? '' : `${scope}/`}${textOf(name)}`
}

const nameOf = (object: Json): string => textOf(objectAt(object, 'metadata')['name'])
