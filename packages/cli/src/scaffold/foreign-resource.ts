import { isDNS1123Subdomain } from '@kubewright/base'
import { UsageError } from '../usage-error.ts'
import { type BuiltinKind, builtinGroup } from './builtin-kinds.ts'
import { kebab } from './kind-names.ts'
import type { ProjectResource } from './project.ts'

/** Where a kind comes from that neither the project nor Kubernetes defines. */
export interface ExternalApi {
  /** The module that exports the kind: a file of the project, or an npm package. */
  readonly path: string
  /** What follows the group. */
  readonly domain?: string | undefined
  /** The npm package with its version, to be added to package.json. */
  readonly module?: string | undefined
}

/** A kind that others define, as the PROJECT file has it. */
export function foreignResource(
  wanted: {
    readonly kind: string
    readonly version: string
    readonly group: string | undefined
    readonly plural: string | undefined
    readonly external: ExternalApi | undefined
  },
  builtins: readonly BuiltinKind[],
): ProjectResource {
  const { kind, version, group, external } = wanted
  if (external !== undefined) {
    if (!/^[\w@./-]+$/.test(external.path)) {
      throw new UsageError('--external-api-path must be a file of the project or a package, such as src/certificate.ts')
    }
    if (isGoPath(external.path) || isGoPath(external.module ?? '')) {
      const file = `src/imported/${[group, external.domain].filter(Boolean).join('.')}/${kebab(kind)}.ts`
      throw new UsageError(
        `--external-api-path must be a module of TypeScript, not of Go: kubewright import makes ${file} of the CRD`,
      )
    }
    if (external.domain !== undefined && isDNS1123Subdomain(external.domain).length > 0) {
      throw new UsageError(`--external-api-domain must be a domain, such as "io", not "${external.domain}"`)
    }
    if (external.module !== undefined && !/^(?:@[\w.-]+\/)?[\w.-]+@[\w.^~*-]+$/.test(external.module)) {
      throw new UsageError(
        `--external-api-module must be a package with its version, as name@1.2.3, not "${external.module}"`,
      )
    }
    return {
      ...(external.domain === undefined ? {} : { domain: external.domain }),
      external: true,
      ...(group === undefined ? {} : { group }),
      kind,
      ...(external.module === undefined ? {} : { module: external.module }),
      path: external.path,
      ...(wanted.plural === undefined ? {} : { plural: wanted.plural }),
      version,
    }
  }
  const full = group === undefined ? undefined : builtinGroup(builtins, group)
  const found = builtins.find((one) => one.group === full && one.version === version && one.kind === kind)
  if (!found || group === undefined) {
    const similar = builtins.filter(
      (one) =>
        one.kind.toLowerCase() === kind.toLowerCase() || (one.group === full && one.kind.startsWith(kind.slice(0, 4))),
    )
    const named = similar.slice(0, 3).map((one) => `${one.kind} of ${one.group || 'core'}/${one.version}`)
    const hint =
      named.length === 0 ? 'for kinds of others give --external-api-path' : `did you mean ${named.join(' or ')}?`
    throw new Error(
      `Neither this project nor Kubernetes has ${kind} (${[group, version].filter(Boolean).join('/')}): ${hint}`,
    )
  }
  const domain = full === group || full === '' ? {} : { domain: full!.slice(group.length + 1) }
  return { core: true, ...domain, group, kind, path: 'kubewright/k8s', plural: found.plural, version }
}

/** Go's modules begin with a host, as no file and no npm package does. */
function isGoPath(path: string): boolean {
  return /^[\w-]+(?:\.[\w-]+)+\//.test(path) && !/\.[cm]?[jt]s$/.test(path)
}
