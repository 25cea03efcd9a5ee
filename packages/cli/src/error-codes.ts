import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that the commands print, and their meanings. */
export const cliErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_COMMAND: 'A command failed. The message names the reason and the fix.',
  KW_DEPLOY: 'Objects could not be applied or removed, or did not become ready. The message names them.',
  KW_KUSTOMIZE: 'A kustomization is invalid. The message names the file and the field.',
  KW_MANIFEST: 'A manifest, a CRD or a file that describes the project is missing or invalid. The message names it.',
  KW_MIGRATE: 'Stored objects could not be migrated. The message names the CRD.',
  KW_PROJECT: 'The files of a project do not allow a change. The message names the file and the fix.',
})
