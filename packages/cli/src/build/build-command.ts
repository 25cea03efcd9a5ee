import { defineFlags } from '@kubewright/base'
import { type Command, defineCommand } from '../command/command.ts'
import { programArgument } from '../entry/entry-argument.ts'

/** The flags of `build`. */
export const buildFlags = defineFlags({
  outfile: {
    value: 'FILE',
    default: 'dist/operator.mjs',
    complete: 'files',
    help: 'File to write, relative to the folder of the project; ends with .mjs',
  },
  'source-map': { default: false, help: 'Also write FILE.map, which node --enable-source-maps reads' },
  external: {
    value: 'PACKAGE',
    repeatable: true,
    help: 'Leave this package out of the file, such as one with native code; node must find it at run time',
  },
})

/** `kubewright build`: bundles an operator into one file. */
export const buildCommand: Command = defineCommand({
  name: 'build',
  summary: 'Write an operator with all its packages to one file',
  description: `
Bundle the program of an operator with the parts of its packages that it uses into one ES module. The file starts faster
than the project and needs Node only: an image contains Node and this file. The arguments are flags of the operator:

  kubewright build && node dist/operator.mjs --help

The embedded control plane is not part of an operator: the command fails if the program imports it.
The bundler is esbuild, in the version that the project has, itself or through tsx.`,
  args: programArgument,
  flags: buildFlags,
  run: async (input, context) => (await import('./run-build.ts')).runBuild(input, context),
})
