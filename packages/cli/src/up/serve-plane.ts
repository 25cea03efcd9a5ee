import { isKubewrightError, KubewrightError, UsageError } from '@kubewright/base'
import { FolderError, type PlaneConfig, type ServedPlane, serve } from '@kubewright/controlplane'
import { writePrivateFile } from '@kubewright/storage'
import type { CommandContext } from '../command/command-context.ts'
import { freeKubeconfig } from './free-kubeconfig.ts'
import { withFolder } from './with-folder.ts'

/** A control plane that listens, and the file with its kubeconfig. */
export interface ServedWithFile extends ServedPlane {
  /** The absolute path of the kubeconfig. */
  readonly file: string
}

/** Serves a control plane and writes its kubeconfig. Errors name the flags that avoid them. */
export async function servePlane(
  config: PlaneConfig,
  kubeconfig: string,
  context: CommandContext,
): Promise<ServedWithFile> {
  const served = await serve(config).catch((error: unknown) => {
    throw withFlags(error)
  })
  try {
    const file = await freeKubeconfig(kubeconfig, served.port, context)
    await withFolder(
      { purpose: 'write the kubeconfig to', path: file, fix: 'choose another file with --kubeconfig FILE' },
      () => writePrivateFile(file, served.kubeconfig),
    )
    return { ...served, file }
  } catch (error) {
    await served[Symbol.asyncDispose]()
    throw error
  }
}

const folderFixes: Readonly<Record<FolderError['holds'], string>> = {
  objects: 'choose another folder with --data DIR, or keep objects in memory with --memory',
  keys: 'start it in a writable folder',
}

function withFlags(error: unknown): unknown {
  if (error instanceof FolderError)
    return new KubewrightError(error.code, `${error.message}: ${folderFixes[error.holds]}`, { cause: error.cause })
  // The message begins with the name of the option, which is that of the flag.
  if (isKubewrightError(error, 'KW_CONTROLLER_UNKNOWN')) return new UsageError(`--${error.message}`)
  return error
}
