export { consoleErrorCodes } from './error-codes.ts'
export type { ClusterLevers } from './feeds/cluster-levers.ts'
export { debugAddress } from './feeds/debug-address.ts'
export type { OperatorSource } from './feeds/operator-source.ts'
export type { PageFiles } from './http/page-files.ts'
export { recordStory, type Story } from './recording/record-story.ts'
export type { Mark } from './recording/recording.ts'
export {
  type Console,
  type ConsoleOptions,
  type ConsoleSettings,
  type ConsoleSubject,
  startConsole,
} from './start-console.ts'
