/** What manifests are made with besides the operator. */
export interface ManifestOptions {
  /** The namespace that the operator runs in. @default `<name>-system` */
  readonly namespace?: string | undefined
  /** @default 'controller:latest' */
  readonly image?: string | undefined
  /** Whether cert-manager looks after the certificate of the webhooks, not the operator. @default false */
  readonly certManager?: boolean | undefined
  /** Whether config/default has Prometheus scrape metrics and know our alerts. @default false */
  readonly prometheus?: boolean | undefined
  /** Whether config/default has network policies. @default false */
  readonly networkPolicy?: boolean | undefined
}

/** {@link ManifestOptions} with nothing left open. */
export interface ResolvedOptions {
  readonly namespace: string
  readonly image: string
  readonly certManager: boolean
  readonly prometheus: boolean
  readonly networkPolicy: boolean
}

/** Fills in what is left open. */
export function resolveOptions(name: string, options: ManifestOptions): ResolvedOptions {
  return {
    namespace: options.namespace ?? `${name}-system`,
    image: options.image ?? 'controller:latest',
    certManager: options.certManager ?? false,
    prometheus: options.prometheus ?? false,
    networkPolicy: options.networkPolicy ?? false,
  }
}
