// The part of esbuild that `kubewright build` uses. Typed here, because the package is the project's, not ours.

/** An error or warning of a build. */
interface EsbuildMessage {
  readonly text: string
  readonly location: { readonly file: string; readonly line: number; readonly column: number } | null
}

/** The modules of a build by path, relative to the working directory, with the modules that each imports. */
export interface EsbuildMetafile {
  readonly inputs: Readonly<Record<string, { readonly imports: readonly { readonly path: string }[] }>>
  readonly outputs: Readonly<Record<string, EsbuildOutput>>
}

interface EsbuildOutput {
  readonly entryPoint?: string | undefined
  readonly exports: readonly string[]
  /** The modules in the file. Unused ones have no bytes in it. */
  readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>
}

/** The result of a build that writes nothing. */
export interface EsbuildResult {
  readonly metafile: EsbuildMetafile
  readonly outputFiles: readonly { readonly path: string; readonly contents: Uint8Array; readonly text: string }[]
}

/** A plugin that replaces the text of modules. */
export interface EsbuildPlugin {
  readonly name: string
  readonly setup: (build: {
    readonly onLoad: (
      options: { readonly filter: RegExp },
      load: (module: { readonly path: string }) => Promise<{ contents: string; loader: 'ts' } | undefined>,
    ) => void
  }) => void
}

/** The package. */
export interface Esbuild {
  readonly build: (
    options: Readonly<Record<string, unknown>> & { readonly plugins: EsbuildPlugin[] },
  ) => Promise<EsbuildResult>
}

/** The error of a failed build. */
export interface EsbuildFailure extends Error {
  readonly errors: readonly EsbuildMessage[]
}

/** Reports whether an error is that of a failed build. */
export function isBuildFailure(error: unknown): error is EsbuildFailure {
  return error instanceof Error && Array.isArray((error as Partial<EsbuildFailure>).errors)
}
