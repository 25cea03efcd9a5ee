import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type FlagValues, isDNS1123Subdomain, KubewrightError, UsageError } from '@kubewright/base'
import { kebab } from '../text/kebab.ts'
import { type BuiltinKind, builtinGroup } from './builtin-kinds.ts'
import type { ProjectResource } from './project.ts'
import type { externalFlags } from './scaffold-flags.ts'

/** The origin of a kind that neither the project nor Kubernetes defines. */
export interface ExternalApi {
  /** The module that exports the kind: a file of the project, or an npm package. */
  readonly path: string
  /** The part of the API group after the group. */
  readonly domain?: string | undefined
  /** The npm package with its version, for package.json. */
  readonly module?: string | undefined
}

/** Reads {@link externalFlags}. Throws {@link UsageError} for a file that does not exist. */
export function externalApi(flags: FlagValues<typeof externalFlags>, folder: string): ExternalApi | undefined {
  const { 'external-api-path': path, 'external-api-domain': domain, 'external-api-module': module } = flags
  if (path !== undefined) {
    if (/\.[cm]?[jt]s$/.test(path) && !existsSync(join(folder, path))) {
      throw new UsageError(`--external-api-path: ${path} does not exist: write it with kubewright import`)
    }
    return { path, domain, module }
  }
  if (domain ?? module) throw new UsageError('--external-api-path is missing: the other --external-api flags need it')
  return undefined
}

/** The entry of the PROJECT file for a kind that Kubernetes or another project defines. */
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
      throw new UsageError(
        `--external-api-path must be a file of the project or a package, such as src/certificate.ts, not "${external.path}"`,
      )
    }
    if (isGoPath(external.path) || isGoPath(external.module ?? '')) {
      const file = `src/imported/${[group, external.domain].filter(Boolean).join('.')}/${kebab(kind)}.ts`
      throw new UsageError(
        `--external-api-path must be a TypeScript module, not a Go module: kubewright import writes ${file} from the CRD`,
      )
    }
    if (external.domain !== undefined && isDNS1123Subdomain(external.domain).length > 0) {
      throw new UsageError(`--external-api-domain must be a domain, such as "io", not "${external.domain}"`)
    }
    if (external.module !== undefined && !/^(?:@[\w.-]+\/)?[\w.-]+@[\w.^~*-]+$/.test(external.module)) {
      throw new UsageError(
        `--external-api-module must be a package with its version, such as name@1.2.3, not "${external.module}"`,
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
    const hint = named.length === 0 ? 'name its module with --external-api-path' : `did you mean ${named.join(' or ')}?`
    throw new KubewrightError(
      'KW_PROJECT',
      `Neither this project nor Kubernetes has ${kind} (${[group, version].filter(Boolean).join('/')}): ${hint}`,
    )
  }
  const domain = full === group || full === '' ? {} : { domain: full!.slice(group.length + 1) }
  return { core: true, ...domain, group, kind, path: 'kubewright/k8s', plural: found.plural, version }
}

/** Whether a path is that of a Go module, which begins with a host name. */
function isGoPath(path: string): boolean {
  return /^[\w-]+(?:\.[\w-]+)+\//.test(path) && !/\.[cm]?[jt]s$/.test(path)
}
