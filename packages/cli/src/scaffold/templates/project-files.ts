import { kubewrightVersion, nodeRelease, pinnedVersions } from '../pinned-versions.ts'
import { type Project, rightsOf } from '../project.ts'
import { licenseHeader } from './license-header.ts'

/** The files of a project that do not depend on its kinds, by path. */
export function projectFiles(project: Project): [path: string, text: string][] {
  return [
    ['package.json', packageJson(project)],
    ['tsconfig.json', tsconfig],
    ['.gitignore', gitignore],
    ['.dockerignore', dockerignore],
    ['Dockerfile', dockerfile],
    ['Makefile', makefile],
    ['.github/workflows/ci.yml', workflow],
    ['test/e2e/operator.test.ts', e2eText(project)],
    ['README.md', readme(project)],
  ]
}

function packageJson(project: Project): string {
  const { projectName, repo, resources = [] } = project
  const modules = resources.flatMap(({ module }) => module ?? []).map(nameAndVersion)
  const value = {
    name: projectName,
    version: '0.1.0',
    private: true,
    license: rightsOf(project).license === 'apache2' ? 'Apache-2.0' : 'UNLICENSED',
    ...repositoryOf(repo),
    type: 'module',
    engines: { node: '>=20.19' },
    kubewright: { operator: 'src/operator.ts' },
    scripts: {
      dev: 'kubewright dev',
      start: 'kubewright run',
      // Longer than the deadlines of a test environment, whose messages name the object that it waits for.
      test: 'vitest run --dir src --passWithNoTests --testTimeout=30000',
      e2e: 'vitest run --dir test/e2e',
      generate: 'kubewright generate',
      typecheck: 'tsc --noEmit',
      build: 'tsc',
    },
    dependencies: Object.fromEntries([...modules, ['kubewright', kubewrightVersion]].sort(byName)),
    devDependencies: {
      '@kubewright/cli': kubewrightVersion,
      '@kubewright/simulator': kubewrightVersion,
      '@kubewright/testing': kubewrightVersion,
      ...pinnedVersions,
    },
    // Both packages work without their install scripts. Without this entry, newer versions of npm warn on every install.
    allowScripts: { esbuild: false, fsevents: false },
  }
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** The `repository` field. Absent for the path of a Go module that is not a repository. */
function repositoryOf(repo: string | undefined): { repository?: string | undefined } {
  if (repo === undefined || !/[./].*\//.test(repo)) return {}
  return { repository: /^[\w.-]+\.[a-z]+\//.test(repo) ? `https://${repo}` : repo }
}

const byName = ([a]: string[], [b]: string[]): number => (a! < b! ? -1 : 1)

/** Splits `@scope/name@1.2.3` into name and version. */
function nameAndVersion(module: string): [name: string, version: string] {
  const at = module.lastIndexOf('@')
  return at > 0 ? [module.slice(0, at), module.slice(at + 1)] : [module, '*']
}

const tsconfig = `{
  "compilerOptions": {
    "target": "es2022",
    "lib": ["es2023", "esnext.disposable"],
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "exactOptionalPropertyTypes": true,
    "noUncheckedIndexedAccess": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "rewriteRelativeImportExtensions": true,
    "skipLibCheck": true,
    "sourceMap": true,
    "rootDir": "src",
    "outDir": "dist"
  },
  "include": ["src"]
}
`

const gitignore = `node_modules/
dist/*
!dist/chart/
!dist/install.yaml
.kubewright/
*.tsbuildinfo
`

// Without tests. Files that are not sent to the builder cannot change the image.
const dockerignore = `*
!package.json
!package-lock.json
!tsconfig.json
!src
**/*.test.ts
`

// The layer is assembled in one folder with fixed timestamps, so that the same input gives the same layer.
const dockerfile = `ARG NODE_VERSION=${nodeRelease}

FROM node:\${NODE_VERSION}-bookworm-slim AS build
WORKDIR /image/app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY tsconfig.json ./
COPY src ./src
# Compile, remove development dependencies, and set fixed timestamps: the same files give the same image.
RUN npm run build \\
  && npm prune --omit=dev --ignore-scripts \\
  && find node_modules -name '*.ts' -delete -o -name '*.d.ts.map' -delete \\
  && find node_modules -type d -empty -delete \\
  && rm -rf src tsconfig.json package-lock.json \\
  && find . -exec touch -h -d @0 {} +

# No shell, no package manager, and an unprivileged user.
FROM gcr.io/distroless/nodejs\${NODE_VERSION}-debian12:nonroot
COPY --from=build /image /
WORKDIR /app
ENV NODE_ENV=production
USER 65532:65532
# The arguments of the container are flags of the operator: --help lists them.
ENTRYPOINT ["/nodejs/bin/node", "--enable-source-maps", "dist/main.js"]
`

const makefile = `# The targets of kubebuilder. Each runs one command.
IMG ?= controller:latest
CONTAINER_TOOL ?= docker
PLATFORMS ?= linux/arm64,linux/amd64
KUBEWRIGHT ?= npx kubewright
# Additional flags of run, dev, deploy, undeploy and uninstall, such as ARGS=--yes.
ARGS ?=

.PHONY: all help manifests generate vet install uninstall run dev test build docker-build docker-push docker-buildx deploy undeploy \\
  build-installer bundle
all: build

help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"} /^[a-z-]+:.*##/ {printf "  %-16s%s\\n", $$1, $$2}' $(MAKEFILE_LIST)

node_modules: package.json
	npm install
	@touch node_modules

manifests: node_modules ## Write CRDs, RBAC, webhooks and the rest of config/.
	$(KUBEWRIGHT) generate

generate: manifests ## Same as manifests: there is no other generated code.

vet: node_modules ## Check types.
	npm run typecheck

install: node_modules ## Install the CRDs in the current cluster.
	$(KUBEWRIGHT) install

uninstall: node_modules ## Remove the CRDs and all their objects.
	$(KUBEWRIGHT) uninstall $(ARGS)

run: node_modules ## Run the operator on this machine, against the current cluster.
	$(KUBEWRIGHT) run $(ARGS)

dev: node_modules ## Run the operator on this machine, with its own control plane.
	$(KUBEWRIGHT) dev $(ARGS)

test: vet ## Check types and run the tests.
	npm test

build: node_modules ## Compile to dist/.
	npm run build

docker-build: ## Build the image IMG.
	SOURCE_DATE_EPOCH=0 $(CONTAINER_TOOL) build -t $(IMG) .

docker-push: ## Push the image IMG.
	$(CONTAINER_TOOL) push $(IMG)

docker-buildx: ## Build and push the image IMG for PLATFORMS.
	SOURCE_DATE_EPOCH=0 $(CONTAINER_TOOL) buildx build --push --platform $(PLATFORMS) -t $(IMG) .

deploy: node_modules ## Deploy IMG to the current cluster.
	$(KUBEWRIGHT) deploy --image $(IMG) $(ARGS)

undeploy: node_modules ## Remove the operator and the CRDs.
	$(KUBEWRIGHT) undeploy $(ARGS)

build-installer: node_modules ## Write dist/install.yaml for IMG.
	$(KUBEWRIGHT) generate --installer --image $(IMG)

bundle: node_modules ## Write the OLM bundle to bundle/.
	$(KUBEWRIGHT) generate --bundle --image $(IMG)
`

const workflow = `name: CI
on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  test:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0
        with:
          persist-credentials: false
      - uses: actions/setup-node@a0853c24544627f65ddf259abe73b1d18a591444 # v5.0.0
        with:
          node-version: ${nodeRelease}
          cache: npm
      - run: npm ci
      - run: npm run typecheck
      - run: npm test
      # Fails if the committed manifests are outdated: run npm run generate and commit the result.
      - if: hashFiles('config/crd/**') != ''
        run: npx kubewright generate --check

  e2e:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    env:
      IMG: operator:e2e
    steps:
      - uses: actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0
        with:
          persist-credentials: false
      - uses: actions/setup-node@a0853c24544627f65ddf259abe73b1d18a591444 # v5.0.0
        with:
          node-version: ${nodeRelease}
          cache: npm
      - run: npm ci
      # The runner has kind. Any other cluster works as well: the test uses the current kubeconfig.
      - run: kind create cluster --wait 2m
      - run: make docker-build IMG=$IMG && kind load docker-image $IMG
      - run: npm run e2e
`

/** The test of the deployed operator. */
function e2eText(project: Project): string {
  return `${licenseHeader(project)}// Deploys the operator to the cluster of the current kubeconfig, applies the samples and removes everything again. Build the
// image and make it available to the cluster first:
//   export IMG=${project.projectName}:e2e
//   make docker-build IMG=$IMG && kind load docker-image $IMG && npm run e2e
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type HasConditions, isConditionTrue, type KubeObject, parseManifests } from 'kubewright/api'
import { type ApiClient, connect } from 'kubewright/client'
import { afterAll, beforeAll, expect, test } from 'vitest'

const image = process.env['IMG'] ?? '${project.projectName}:e2e'
const samples = 'config/samples'

let client: ApiClient

function kubewright(...args: string[]): void {
  execFileSync('npx', ['kubewright', ...args], { stdio: 'inherit' })
}

beforeAll(async () => {
  client = await connect()
  kubewright('deploy', '--image', image, '--timeout', '5m')
}, 400_000)

afterAll(async () => {
  kubewright('undeploy', '--yes', '--timeout', '5m')
  await client[Symbol.asyncDispose]()
}, 400_000)

/** The objects in config/samples. */
function sampleObjects(): KubeObject[] {
  const files = existsSync(samples) ? readdirSync(samples) : []
  return files
    .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
    .flatMap((file) => parseManifests(readFileSync(\`\${samples}/\${file}\`, 'utf8')) as KubeObject[])
}

test('the deployed operator makes its samples ready', { timeout: 300_000 }, async () => {
  for (const sample of sampleObjects()) {
    const applied = await client.apply(sample, { force: true })
    const kind = await client.kind({ ...groupVersionOf(sample.apiVersion), kind: sample.kind })
    const read = async () => (await client.get(kind, applied.metadata)) as HasConditions
    const isReady = async () => isConditionTrue(await read(), 'Ready')
    await expect.poll(isReady, { timeout: 120_000, interval: 1000, message: sample.metadata.name }).toBe(true)
  }
})

function groupVersionOf(apiVersion: string): { group: string; version: string } {
  const [version = '', group = ''] = apiVersion.split('/').reverse()
  return { group, version }
}
`
}

const readme = ({ projectName }: Project): string => `# ${projectName}

A Kubernetes operator, built with Kubewright.

\`\`\`sh
npm install
npx kubewright create api --group demo --version v1 --kind Home   # create src/home.ts, its controller and a test
npm test                                                          # run the tests on an embedded control plane
npm run dev                                                       # run the operator on its own control plane, reload on save
\`\`\`

\`npm run dev\` prints the path of a kubeconfig for kubectl. \`npm run generate\` and \`kubectl apply -k config/samples/\` create the samples.

| | |
|---|---|
| \`src/<kind>.ts\` | a kind: its schema, from which type and CRD are derived |
| \`src/<kind>.controller.ts\` | the controller that reconciles its objects |
| \`src/<kind>.webhook.ts\` | the webhooks that default and validate its objects |
| \`src/operator.ts\` | the operator with all its parts |
| \`src/main.ts\` | the program that runs in the cluster |
| \`test/e2e/\` | the test of the deployed operator |
| \`config/\` | manifests, written by \`npm run generate\`; you may edit the files in \`config/samples\` |

On a cluster:

\`\`\`sh
npm run generate                             # write CRDs, RBAC, webhooks and the Deployment to config/
npx kubewright install                       # install the CRDs
npm start                                    # run the operator on this machine, against the current kubeconfig
make docker-build docker-push IMG=registry.example.com/${projectName}:0.1.0
make deploy IMG=registry.example.com/${projectName}:0.1.0
\`\`\`

\`npm run e2e\` deploys the image \`IMG\` to the cluster of the current kubeconfig, applies the samples, waits until they are ready and removes
everything again. The CI workflow does this on a kind cluster.
`
