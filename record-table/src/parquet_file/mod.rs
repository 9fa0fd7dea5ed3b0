//! The table as a Parquet file: typed columns, in groups of rows that are written as soon as they are full.

mod buffer;
mod schema;

use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;

use crate::Run;
use crate::column::Column;
use buffer::Buffer;

/// Rows of a group, which are in memory until it is written: some megabytes.
pub const ROWS_IN_GROUP: usize = 10_000;

/// A file that has come so far. Nobody has to keep what was taken of it.
pub struct ParquetFile<R> {
    columns: Vec<Column<R>>,
    writer: SerializedFileWriter<Vec<u8>>,
    /// One for each column.
    buffers: Vec<Buffer>,
    rows: usize,
}

impl<R: Run> ParquetFile<R> {
    /// A table with these columns. Its metadata have `about` and, as JSON, what the columns mean.
    ///
    /// # Errors
    /// What the format cannot hold, such as two columns of one name.
    pub fn new(columns: Vec<Column<R>>, about: &[(&str, &str)]) -> Result<Self, ParquetError> {
        let properties = Arc::new(schema::properties(&columns, about)?);
        let writer = SerializedFileWriter::new(Vec::new(), Arc::new(schema::schema(&columns)?), properties)?;
        let buffers = columns.iter().map(|column| Buffer::new(&column.values)).collect();
        Ok(Self { columns, writer, buffers, rows: 0 })
    }

    /// A row for each workload.
    ///
    /// # Errors
    /// A group of rows cannot be compressed.
    pub fn write_run(&mut self, run: &R) -> Result<(), ParquetError> {
        for workload in &run.record().workloads {
            for (buffer, column) in self.buffers.iter_mut().zip(&self.columns) {
                buffer.push(column.values.cell(run, workload))?;
            }
            self.rows += 1;
            if self.rows == ROWS_IN_GROUP {
                self.write_group()?;
            }
        }
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for buffer in &mut self.buffers {
            let column = group.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".to_owned()))?;
            buffer.write(column)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    /// Writes what is left, and what readers look for at the end of a file.
    ///
    /// # Errors
    /// As [`ParquetFile::write_run`].
    pub fn end(&mut self) -> Result<(), ParquetError> {
        if self.rows > 0 {
            self.write_group()?;
        }
        self.writer.finish().map(|_metadata| ())
    }

    /// The bytes since the last time.
    ///
    /// # Errors
    /// None that memory knows of.
    pub fn take(&mut self) -> Result<Vec<u8>, ParquetError> {
        self.writer.flush()?;
        // The writer counts what went through it, and never looks back.
        Ok(std::mem::take(self.writer.inner_mut()))
    }
}
