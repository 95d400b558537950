// SPDX-License-Identifier: GPL-2.0-only
// Recordings of many hosts, asked by DuckDB what docs/fleet.md asks; the generator knows the answer, and sqlite3 must give the
// same one for two of the hosts. Prints how long each step takes, and how much CPU time (that of sqlite3 not).
//
//   fleet.mjs RECORDING DIRECTORY [HOSTS [HOURS [SECONDS [ROWS]]]]
//
// RECORDING is one of this hog: generated recordings have its columns. DIRECTORY is made, and keeps the database.
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [recording, directory] = process.argv.slice(2, 4).map((path) => resolve(path));
const [hosts, hours, seconds, rows] = [100, 24, 15, 10].map((usual, i) => Number(process.argv[4 + i] ?? usual));
const { DuckDBInstance } = createRequire(`${directory}/`)("@duckdb/node-api");

const heads = readFileSync(recording, "utf8").split("\n").filter((line) => line.startsWith("{"));
const columns = (view) => JSON.parse(heads.find((line) => line.startsWith(`{"view":"${view}"`))).columns;
const [windowColumns, topColumns] = [columns("window"), columns("top")];

let failed = 0;
const check = (name, good, detail = "") => {
    console.log(good ? `ok - ${name}` : `not ok - ${name}: ${detail}`);
    failed ||= good ? 0 : 1;
};
const timed = async (name, work) => {
    const began = performance.now(), before = process.cpuUsage();
    const result = await work(), used = process.cpuUsage(before);
    console.log(`${name}: ${((performance.now() - began) / 1000).toFixed(2)} s, CPU ${((used.user + used.system) / 1e6).toFixed(2)} s`);
    return result;
};

// The same numbers each time.
let state = 1;
const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
};

const names = ["postgres", "php-fpm", "java", "nginx", "cc1", "python3", "node", "rsync", "systemd-journal", "kubelet",
    "containerd", "redis-server", "mysqld", "kswapd0", "gzip", "it\\x20is"];
const verdicts = ["ok", "ok", "ok", "cpu-bound", "starved", "io-bound", "throttled", "noisy"];
const begin = Date.UTC(2026, 10, 23);
const asked = Date.UTC(2026, 10, 23, 3, 12);
const truth = new Map();

// On one host in that minute a process takes three CPUs.
const row = (host, start, i) => {
    const pid = 1000 + host * 7 + i * 131;
    const hog = host === Math.floor(hosts / 2) && i === 3 && start >= asked && start < asked + 60000;
    const cpu = hog ? 300 + random() : 100 * random() ** (i + 1);
    const known = {
        rank: i + 1, pid, cpu_pct: cpu.toFixed(2), lost_pct: (20 * random()).toFixed(2), caused_pct: (9 * random()).toFixed(2),
        rss_kib: Math.floor(1e6 * random()), uid: 1000, verdict: `"${verdicts[Math.floor(8 * random())]}"`,
        comm: JSON.stringify(names[(host + i) % names.length]),
    };
    if (start >= asked && start < asked + 60000) {
        const key = `host${host} ${pid} ${JSON.parse(known.comm)}`;
        truth.set(key, (truth.get(key) ?? 0) + (Number(known.cpu_pct) * seconds) / 100);
    }
    return `["top",${topColumns.map((name) => known[name] ?? (name.endsWith("_us") ? "17.5" : name === "by" ? "null" : "0")).join(",")}]\n`;
};

const generate = () => {
    let bytes = 0;
    mkdirSync(`${directory}/recordings`, { recursive: true });
    for (let host = 0; host < hosts; host++) {
        const file = openSync(`${directory}/recordings/host${host}.rec`, "w");
        let text = `${heads.filter((line) => /"hog"|"view":"(window|top)"/.test(line)).join("\n")}\n`;
        for (let seq = 1; seq <= (hours * 3600) / seconds; seq++) {
            const start = begin + (seq - 1) * seconds * 1000;
            const known = { seq, start: `"${new Date(start).toISOString().replace("Z", "000Z")}"`, dur_ms: seconds * 1000, pids: '"host"' };
            text += `["window",${windowColumns.map((name) => known[name] ?? "0").join(",")}]\n`;
            for (let i = 0; i < rows; i++)
                text += row(host, start, i);
            text += '["end"]\n';
            if (text.length > 1 << 20) {
                writeSync(file, text);
                text = "";
            }
        }
        writeSync(file, text);
        closeSync(file);
        bytes += statSync(`${directory}/recordings/host${host}.rec`).size;
    }
    return bytes;
};

rmSync(`${directory}/fleet.db`, { force: true });
const bytes = await timed(`generate recordings of ${hosts} hosts, ${hours} h in windows of ${seconds} s, ${rows} rows each`, generate);
console.log(`they have ${(bytes / 2 ** 20).toFixed(0)} MiB`);

// A statement ends at the end of a line.
const imports = readFileSync("docs/fleet/recordings.sql", "utf8").split(/;$/m).filter((part) => /^[A-Z]/m.test(part));
const question = readFileSync("docs/fleet/most-cpu.sql", "utf8");

const importer = async (file, recordings) => {
    const db = await (await DuckDBInstance.create(file)).connect();
    await db.run(`SET VARIABLE recordings = '${recordings}'`);
    for (const statement of imports)
        await db.run(statement);
    return async (sql) => (await db.runAndReadAll(sql)).getRowsJson();
};
const bySqlite = (file, recordings) => {
    rmSync(file, { force: true });
    execFileSync("docs/fleet/recordings.sh", [file, ...recordings]);
    return JSON.parse(execFileSync("sqlite3", ["-json", file], { input: question, encoding: "utf8" })).map(Object.values);
};
const plain = (rows) => JSON.stringify(rows.map(([host, pid, comm, cpu]) => [host, String(pid), comm, Number(cpu).toFixed(1)]));
const agree = (name, one, other) => check(name, plain(one) === plain(other), `${plain(one)} ${plain(other)}`);

const small = ["db2", "web7"].map((host) => `tests/unit/recordings/${host}.rec`);
agree("recordings of other versions and damaged ones: DuckDB and sqlite3 answer the same",
    await (await importer(":memory:", "tests/unit/recordings/*.rec"))(question), bySqlite(`${directory}/small.db`, small));

const answers = await timed("import by docs/fleet/recordings.sql", () =>
    importer(`${directory}/fleet.db`, `${directory}/recordings/*.rec`));
const [[count]] = await answers("SELECT count(*) FROM top");
check("every row is in the table", Number(count) === (hosts * hours * 3600 * rows) / seconds, count);

const most = await timed("which process had most CPU over all hosts at 03:12", () => answers(question));
const wanted = [...truth].sort((a, b) => b[1] - a[1]).slice(0, 5);
console.log(most.map((row) => row.join("  ")).join("\n"));
agree("it is what the generator made", most, wanted.map(([key, cpu]) => [...key.split(" "), cpu]));

const day = await timed("and over the whole day", () =>
    answers("SELECT host, pid, comm, round(sum(cpu_pct * dur_ms) / 1e5) AS cpu_s FROM top GROUP BY ALL ORDER BY cpu_s DESC LIMIT 3"));
console.log(day.map((row) => row.join("  ")).join("\n"));
const starved = await timed("hosts with most windows of starved processes", () =>
    answers("SELECT host, count(DISTINCT start) AS windows FROM top WHERE verdict = 'starved' GROUP BY ALL ORDER BY windows DESC, host LIMIT 3"));
console.log(starved.map((row) => row.join("  ")).join("\n"));

// Two hosts, among them that of the hog.
const two = [0, Math.floor(hosts / 2)].map((host) => `host${host}`);
agree("sqlite3 answers the same for two of the hosts",
    await timed("import of two hosts by docs/fleet/recordings.sh, and the question", () =>
        bySqlite(`${directory}/two.db`, two.map((host) => `${directory}/recordings/${host}.rec`))),
    await answers(question.replace("FROM top", `FROM (FROM top WHERE host IN ('${two.join("', '")}'))`)));
rmSync(`${directory}/recordings`, { recursive: true });
process.exit(failed);
