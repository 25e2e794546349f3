// The status of an answer without data, if other fields failed before the one that emptied it.
import { expect, test } from 'vitest'
import { GatewayError } from '../../../src/errors.ts'
import { startGateway } from '../../support/gateway.ts'
import { ANA, SMALL_WORLD } from '../../support/workspaces.ts'

const MISSING = 'me { latestExport(ref: "nope") { id } }'
const CODES = ['NO_PROJECT', 'NO_PROJECT']

test.for(['application/json', 'application/graphql-response+json'])(
  'the status is that of the failure that emptied the data, as %s',
  async (accept) => {
    let isAway = false
    const gateway = await startGateway({
      wrapStore: (store) => ({
        ...store,
        documentsById(keys) {
          if (isAway) throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: 3 })
          return store.documentsById(keys)
        },
      }),
    })
    await gateway.load(SMALL_WORLD)
    const { accessToken } = await gateway.login(ANA)
    const told = async (document: string) => {
      const { status, headers, json } = await gateway.graphql(document, { accessToken, headers: { accept } })
      const { data, errors } = json()
      const codes = errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code)
      return { status, retryAfter: headers.get('retry-after'), data, codes }
    }
    const { json } = await gateway.graphql('{ me { projects { id } } }', { accessToken })
    const [{ id }] = json().data.me.projects

    const ids = JSON.stringify(Array.from({ length: 101 }, () => id))
    const tooMany = await told(`{ a: ${MISSING} b: ${MISSING} nodes(ids: ${ids}) { id } c: ${MISSING} }`)
    expect(tooMany).toMatchObject({ status: 400, retryAfter: null, data: null })
    expect([tooMany.codes.slice(0, -1), tooMany.codes.length]).toEqual([CODES, 3])

    isAway = true
    expect(await told(`{ a: ${MISSING} b: ${MISSING} nodes(ids: ["${id}"]) { id } }`)).toEqual({
      status: 503,
      retryAfter: '3',
      data: null,
      codes: [...CODES, 'UNAVAILABLE'],
    })
  },
)
