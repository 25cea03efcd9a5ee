import { isDNS1035Label, isDNS1123Label, isDNS1123Subdomain, isJsonObject } from '@kubewright/base'

type Check = (text: string) => boolean

const isLabel: Check = (text) => isDNS1123Label(text).length === 0
const isDomain: Check = (text) => isDNS1123Subdomain(text).length === 0
const isVersion: Check = (text) => /^[a-z][a-z0-9]{0,62}$/.test(text)
const isUrlPath: Check = (text) => /^\/[\w./-]+$/.test(text)
const isNumber: Check = (text) => /^\d{1,10}$/.test(text)
const isOneLine: Check = (text) => !/\p{Cc}|\p{Zl}|\p{Zp}/u.test(text)

const resourceFields: Readonly<Record<string, Check>> = {
  domain: isDomain,
  group: isDomain,
  kind: (text) => /^[A-Z][A-Za-z0-9]{0,62}$/.test(text),
  module: (text) => /^(?:@[\w.-]+\/)?[\w.-]+@[\w.^~*-]+$/.test(text),
  // A package, or a file of the project and nothing outside of it.
  path: (text) => /^[\w@.-][\w@./-]*$/.test(text) && !text.split('/').includes('..'),
  plural: (text) => isDNS1035Label(text).length === 0,
  version: isVersion,
}
const imageFields: Readonly<Record<string, Check>> = {
  image: (text) => /^[\w.:/@+-]+$/.test(text),
  containerCommand: isOneLine,
  containerPort: isNumber,
  runAsUser: isNumber,
}

/**
 * The first field of a PROJECT file whose text cannot become part of generated code and file names; undefined if there is
 * none. The commands check their flags before they write the file, but it may come from another author.
 */
export function projectProblem(project: Readonly<Record<string, unknown>>): string | undefined {
  const problems = [
    ...wrong('', project, { domain: isDomain, projectName: isLabel, repo: (text) => /^[\w@][\w.~@:/+-]*$/.test(text) }),
    ...listOf(project['resources']).flatMap((resource, index) => resourceProblems(resource, `resources[${index}]`)),
    ...(isJsonObject(project['plugins']) ? pluginProblems(project['plugins']) : []),
  ]
  return problems[0]
}

function resourceProblems(resource: Readonly<Record<string, unknown>>, at: string): string[] {
  const webhooks = isJsonObject(resource['webhooks']) ? resource['webhooks'] : {}
  const spokes = Array.isArray(webhooks['spoke']) ? webhooks['spoke'] : []
  return [
    ...wrong(`${at}.`, resource, resourceFields),
    ...wrong(`${at}.webhooks.`, webhooks, { defaultingPath: isUrlPath, validationPath: isUrlPath }),
    ...wrong(`${at}.webhooks.spoke.`, Object.fromEntries(spokes.entries()), asChecks(spokes, isVersion)),
    ...listOf(resource['controllers']).flatMap((one, i) => wrong(`${at}.controllers[${i}].`, one, { name: isLabel })),
  ]
}

function pluginProblems(plugins: Readonly<Record<string, unknown>>): string[] {
  return Object.values(plugins).flatMap((plugin) => {
    if (!isJsonObject(plugin)) return []
    const options = listOf(plugin['resources']).map((resource) => resource['options'])
    return [
      ...wrong('plugins.', plugin, { owner: isOneLine }),
      ...options.flatMap((one) => (isJsonObject(one) ? wrong('plugins.options.', one, imageFields) : [])),
    ]
  })
}

function asChecks(list: readonly unknown[], check: Check): Record<string, Check> {
  return Object.fromEntries(list.map((_, index) => [String(index), check]))
}

function wrong(at: string, from: object, checks: Readonly<Record<string, Check>>): string[] {
  return Object.entries(checks).flatMap(([name, check]) => {
    const value: unknown = (from as Readonly<Record<string, unknown>>)[name]
    if (value === undefined || value === null || (typeof value === 'string' && check(value))) return []
    return [`has an invalid ${at}${name}: ${JSON.stringify(value)}`]
  })
}

function listOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
