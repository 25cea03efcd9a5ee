import { closestWord } from '@kubewright/base'
import type { AccessRule } from '../controller/access-rule.ts'

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']
// Verbs that RBAC checks for special resources. Extension servers may define others.
const special = ['*', 'approve', 'attest', 'bind', 'escalate', 'impersonate', 'proxy', 'sign', 'use']
// HTTP methods and names from other systems.
const mistakes: Readonly<Record<string, string>> = {
  read: "'get', 'list', 'watch'",
  write: "'create', 'update', 'patch', 'delete'",
  edit: "'update', 'patch'",
  modify: "'update', 'patch'",
  apply: "'create', 'patch'",
  remove: "'delete'",
  post: "'create'",
  put: "'update'",
  all: "'*'",
}

/**
 * Throws a RangeError for rules that would grant nothing, because no request has their verbs. Unknown verbs that resemble no verb are
 * accepted, because RBAC allows verbs of extension servers.
 */
export function checkRules(what: string, rules: readonly AccessRule[] = []): void {
  for (const [index, rule] of rules.entries()) {
    for (const verb of rule.verbs) {
      if (verbs.includes(verb) || special.includes(verb)) continue
      const word = closestWord(verb, verbs)
      const meant = mistakes[verb.toLowerCase()] ?? (word === undefined ? undefined : `'${word}'`)
      if (meant === undefined) continue
      throw new RangeError(
        `Cannot define ${what} as 'rbac[${index}].verbs' contains '${verb}', which is not a verb of Kubernetes: use ${meant}`,
      )
    }
  }
}

/** Throws a TypeError if an entry of a list of kinds is not a kind, such as its name. */
export function checkKinds(what: string, field: string, entries: readonly unknown[] = []): void {
  for (const [index, entry] of entries.entries()) {
    if (typeof entry === 'function' || (typeof entry === 'object' && entry !== null && 'kind' in entry)) continue
    const name = typeof entry === 'string' ? entry : 'ConfigMap'
    throw new TypeError(
      `Cannot define ${what} as '${field}[${index}]' is ${JSON.stringify(entry) ?? 'undefined'}, not a kind: pass the value, as in import { ${name} } from 'kubewright/k8s'`,
    )
  }
}
