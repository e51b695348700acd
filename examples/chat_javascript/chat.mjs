// Publish a conversation to Eunoe, one message a line: a text, or JSON with role, content and, if
// known, id, time, name and session_id. Usage: node chat.mjs [--user ana] [--session monday] [FILE]

import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { compatibilityPartitioner, ProduceAcks, Producer, stringSerializers } from '@platformatic/kafka'

const AT_ONCE = 100

// As Python's quote with nothing safe: encodeURIComponent leaves five more characters as they are.
function quoted (part) {
  return encodeURIComponent(part).replace(/[!'()*]/g, one => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}

function record (topic, line, { user, tenant, session }) {
  const message = line.startsWith('{') ? JSON.parse(line) : { content: line }
  const { id = randomUUID(), time = new Date().toISOString(), role = 'user', ...said } = message
  if (typeof said.content !== 'string' || !said.content.isWellFormed()) {
    throw new Error('The content of a message must be a text of whole characters.')
  }
  const data = { role, ...said }
  if (session !== undefined) data.session_id ??= session
  const key = `${quoted(tenant)}/${quoted(user)}`
  const headers = {
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: 'chat-frontend',
    ce_type: 'eunoe.turn.added.v1',
    ce_time: time,
    ce_partitionkey: key,
    ce_tenantid: tenant,
    ce_userid: user,
    'content-type': 'application/json'
  }
  return { topic, key, headers, value: JSON.stringify(data) }
}

async function publish (producer, messages) {
  await producer.send({ messages, acks: ProduceAcks.ALL })
  for (const { headers } of messages) console.log(headers.ce_id)
}

async function main () {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      user: { type: 'string', default: 'ana' },
      tenant: { type: 'string', default: 'default' },
      session: { type: 'string' }
    }
  })
  const brokers = process.env.EUNOE_KAFKA
  if (!brokers) throw new Error('Set EUNOE_KAFKA to the brokers, host:port.')
  const topic = `${process.env.EUNOE_NAMESPACE || 'eunoe'}.turns.v1`
  const producer = new Producer({
    clientId: 'chat-frontend',
    bootstrapBrokers: brokers.split(',').map(one => one.trim()),
    serializers: stringSerializers,
    idempotent: true,
    autocreateTopics: false,
    // Kafka's own placement. This client's default differs from it, unless the number of
    // partitions is a power of two.
    partitioner: compatibilityPartitioner,
    retries: 5,
    retryDelay: 500
  })
  const input = positionals.length ? createReadStream(positionals[0]) : process.stdin
  const size = input.isTTY ? 1 : AT_ONCE
  try {
    let batch = []
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      if (line.trim()) batch.push(record(topic, line.trim(), values))
      if (batch.length === size) {
        await publish(producer, batch)
        batch = []
      }
    }
    if (batch.length) await publish(producer, batch)
  } catch (error) {
    if (!String(error.code).startsWith('PLT_KFK')) throw error
    throw new Error(`Kafka at ${brokers} can't be used now (${error.message}): see EUNOE_KAFKA.`)
  } finally {
    await producer.close().catch(() => {})
  }
}

try {
  await main()
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
