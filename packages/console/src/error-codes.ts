import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, with their explanations. */
export const consoleErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_CONSOLE_PAGE: 'The page of the console is missing in the package; in a checkout, run `npm run build`.',
  KW_CONSOLE_RECORDING: 'A file is not a complete recording of the console, or has another version; export it again.',
})
