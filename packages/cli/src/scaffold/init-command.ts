import { defineFlags } from '@kubewright/base'
import { type Command, defineCommand } from '../command/command.ts'
import { scaffoldFlags } from './scaffold-flags.ts'

/** The flags of `init`. */
export const initFlags = defineFlags({
  domain: {
    value: 'DOMAIN',
    defaultText: 'my.domain',
    help: 'Append this domain to the API groups: group shop becomes shop.DOMAIN',
  },
  'project-name': { value: 'NAME', defaultText: 'the name of the folder', help: 'Name the operator' },
  repo: { value: 'REPO', help: 'Record this repository in package.json, such as github.com/jane/homes' },
  owner: { value: 'NAME', help: 'Name this owner in copyright lines' },
  license: {
    value: 'NAME',
    choices: ['apache2', 'none'],
    default: 'apache2',
    help: 'Use this license: apache2 or none',
  },
  multigroup: { default: false, help: 'Keep the kinds of each API group in a folder of their own' },
  namespaced: { default: false, help: 'Restrict the operator to its own namespace' },
  'fetch-deps': { defaultText: 'asked at a terminal, off elsewhere', help: 'Run npm install afterwards' },
  replay: {
    default: false,
    help: 'Write the files that PROJECT records: create missing ones, and put FILE.new beside those that you changed',
  },
  ...scaffoldFlags,
  force: { default: false, help: 'Overwrite existing files' },
})

/** `kubewright init`: creates a project in the current folder. */
export const initCommand: Command = defineCommand({
  name: 'init',
  summary: 'Create a project for an operator in this folder',
  description: `
Create a project for an operator in the current folder, with a PROJECT file that records its settings and kinds. Ask for
missing values at a terminal.`,
  flags: initFlags,
  run: async (input, context) => (await import('./run-init.ts')).runInit(input, context),
})
