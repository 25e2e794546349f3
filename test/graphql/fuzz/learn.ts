// Learns the names that only the gateway can give, cursors and global ids, with one plain query for each user.
import { type ModelUser, objectsOf } from './model.ts'
import { RawText } from './model-resolvers.ts'
import { requireSameData } from './response-text.ts'

interface Named {
  readonly id?: string
  readonly cursor: string
}

/** Resolves with the response's text. */
export type AskPlainly = (document: string, viewer: ModelUser) => Promise<string>

/** Throws unless the gateway holds what the model holds, gives each thing a name of its own, and repeats its answer. */
export async function learnNames(users: readonly ModelUser[], hasGlobalIds: boolean, ask: AskPlainly): Promise<void> {
  const known = new Set<string>()
  for (const user of users) {
    const document = plainQuery(hasGlobalIds)
    const text = await ask(document, user)
    if ((await ask(document, user)) !== text) throw new Error('asked again, the gateway answers something else')
    const { me } = JSON.parse(text).data
    learnAll([user], [me])
    for (const list of ['projects', 'templates', 'uiLibraries'] as const) learnAll(user[list], me[list])
    for (const [index, project] of user.projects.entries()) {
      learnAll(project.exports, me.projects[index].exports)
      for (const [place, { elements }] of project.exports.entries()) {
        learnAll(elements, me.projects[index].exports[place].elements)
      }
    }
    requireSameData(expectedOf(user, hasGlobalIds), text, text.indexOf('{', 1))
    await learnSessions(user, ask)
    if (!hasGlobalIds) continue
    for (const { learned, __typename } of objectsOf(user)) {
      if (learned.id === null || known.has(learned.id)) throw new Error(`a ${__typename} has no id of its own`)
      known.add(learned.id)
    }
  }
}

/** Learns the one session, which was opened for these queries. */
async function learnSessions(user: ModelUser, ask: AskPlainly): Promise<void> {
  const document = '{ me { sessions { id createdAt lastUsedAt expiresAt current userAgent network } } }'
  const [session, ...others] = JSON.parse(await ask(document, user)).data.me.sessions
  if (others.length > 0 || session.current !== true) throw new Error('a user has a session that nobody opened')
  user.sessions.push({ __typename: 'Session', told: session, learned: { cursor: '', id: session.id } })
}

function learnAll(objects: readonly { readonly learned: ModelUser['learned'] }[], answered: readonly Named[]): void {
  if (objects.length !== answered.length) throw new Error(`${objects.length} expected, ${answered.length} answered`)
  for (const [index, { learned }] of objects.entries()) {
    learned.cursor = answered[index]?.cursor ?? ''
    learned.id = answered[index]?.id ?? null
  }
}

function plainQuery(hasGlobalIds: boolean): string {
  const id = hasGlobalIds ? 'id ' : ''
  const item = `{ ${id}cursor data }`
  return `{ me { ${id}projects { ${id}cursor data exports { ${id}cursor digest elements ${item} } } templates ${item} uiLibraries ${item} } }`
}

/** The same answer, made from the model: it has every document, byte for byte. */
function expectedOf(user: ModelUser, hasGlobalIds: boolean): object {
  const id = ({ id: global }: ModelUser['learned']) => (hasGlobalIds ? { id: global } : {})
  const item = ({ learned, text }: { readonly learned: ModelUser['learned']; readonly text: string }) => ({
    ...id(learned),
    cursor: learned.cursor,
    data: new RawText(text),
  })
  return {
    me: {
      ...id(user.learned),
      projects: user.projects.map((project) => ({
        ...item(project),
        exports: project.exports.map(({ learned, digest, elements }) => ({
          ...id(learned),
          cursor: learned.cursor,
          digest,
          elements: elements.map(item),
        })),
      })),
      templates: user.templates.map(item),
      uiLibraries: user.uiLibraries.map(item),
    },
  }
}
