import { defineArguments } from '../command/arguments.ts'

/** The argument of every command that loads an operator. */
export const entryArgument = defineArguments({
  entry: {
    label: 'ENTRY',
    optional: true,
    complete: 'files',
    help: 'Module that exports an operator or calls run(operator), or the folder of its project (default: "kubewright": { "operator": FILE } in package.json, then src/main.ts, then src/operator.ts)',
  },
})
