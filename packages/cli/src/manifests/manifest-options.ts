import { isDNS1123Label, UsageError } from '@kubewright/base'

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

/** Fills in what is left open. Throws {@link UsageError} for what no cluster would take. */
export function resolveOptions(name: string, options: ManifestOptions): ResolvedOptions {
  const { namespace = `${name}-system`, image = 'controller:latest' } = options
  if (isDNS1123Label(namespace).length > 0) {
    throw new UsageError(
      `--namespace must be lower case letters, digits and dashes, such as "homes", not "${namespace}"`,
    )
  }
  if (!isImage(image)) throw new UsageError(`--image must be a container image, not "${image}"`)
  return {
    namespace,
    image,
    certManager: options.certManager ?? false,
    prometheus: options.prometheus ?? false,
    networkPolicy: options.networkPolicy ?? false,
  }
}

/** Whether a text can be the name of a container image. */
export function isImage(text: string): boolean {
  return /^\w[\w./:@-]*$/.test(text)
}
