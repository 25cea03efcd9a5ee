import { defineArguments } from '../command/arguments.ts'

/** The argument of every command that describes an operator. */
export const entryArgument = defineArguments({
  entry: {
    label: 'ENTRY',
    optional: true,
    complete: 'files',
    help: 'Module that exports an operator or calls run(operator), or the folder of its project (default: "kubewright": { "operator": FILE } in package.json, then src/main.ts, then src/operator.ts)',
  },
})

/** The argument of every command that runs an operator: the default is its program. */
export const programArgument = defineArguments({
  entry: {
    ...entryArgument.entry,
    help: 'Module that calls run(operator) or exports an operator, or the folder of its project (default: src/main.ts, then "kubewright": { "operator": FILE } in package.json, then src/operator.ts)',
  },
})
