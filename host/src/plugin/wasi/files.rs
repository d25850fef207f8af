//! `wasi:filesystem`, over the files that were granted. All of it is in memory and never waits; whatever would
//! write is refused. All but dropping counts as a host call. Must not know where files are from.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::vec::IntoIter;

use wasmtime::component::{HasData, Resource, ResourceTable};
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, DirectoryEntryStream,
    Filesize, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::bindings::sync::io::streams;
use wasmtime_wasi::p2::pipe::MemoryInputPipe;
use wasmtime_wasi::p2::{DynInputStream, FsError, FsResult};

use crate::plugin::capability::files::{Files, NoNode, Node};
use crate::plugin::limits::Limits;

/// Bytes that one read gives.
const READ: usize = 64 * 1024;

/// The files of one instance, its open ones among its resources, and what its calls are counted by.
pub(in crate::plugin) struct Granted<'a> {
    pub(in crate::plugin) files: &'a Files,
    pub(in crate::plugin) table: &'a mut ResourceTable,
    pub(in crate::plugin) limits: &'a mut Limits,
}

/// For `add_to_linker`.
pub(in crate::plugin) struct HasGranted;

impl HasData for HasGranted {
    type Data<'a> = Granted<'a>;
}

/// What is left of a directory that is read.
type Listing = IntoIter<DirectoryEntry>;

impl Granted<'_> {
    /// The root, opened anew; nothing where no file is granted.
    pub(super) fn root(&mut self) -> wasmtime::Result<Option<Resource<Descriptor>>> {
        self.limits.charge()?;
        if self.files.is_empty() { Ok(None) } else { self.push(Files::root()).map(Some) }
    }

    /// Wasmtime's type of an open file stands for ours: nothing but this file looks at it.
    fn push(&mut self, node: Node) -> wasmtime::Result<Resource<Descriptor>> {
        Ok(Resource::new_own(self.table.push(node)?.rep()))
    }

    /// What is open there, for one more call.
    fn node(&mut self, open: &Resource<Descriptor>) -> FsResult<&Node> {
        self.limits.charge().map_err(FsError::trap)?;
        Ok(self.table.get(&Resource::<Node>::new_borrow(open.rep()))?)
    }

    fn dir(&mut self, open: &Resource<Descriptor>) -> FsResult<&str> {
        match self.node(open)? {
            Node::Dir(path) => Ok(path),
            Node::File { .. } => Err(ErrorCode::NotDirectory.into()),
        }
    }

    fn find(&mut self, open: &Resource<Descriptor>, path: &str) -> FsResult<Node> {
        let files = self.files;
        let dir = self.dir(open)?;
        files.find(dir, path).map_err(|none| {
            FsError::from(match none {
                NoNode::Outside => ErrorCode::NotPermitted,
                NoNode::Missing => ErrorCode::NoEntry,
                NoNode::NotDirectory => ErrorCode::NotDirectory,
            })
        })
    }

    /// The answer to whatever would change something.
    fn refuse<T>(&mut self, open: &Resource<Descriptor>) -> FsResult<T> {
        self.node(open)?;
        Err(ErrorCode::ReadOnly.into())
    }
}

fn kind(node: &Node) -> DescriptorType {
    match node {
        Node::Dir(_) => DescriptorType::Directory,
        Node::File { .. } => DescriptorType::RegularFile,
    }
}

fn stat(node: &Node) -> DescriptorStat {
    let size = match node {
        Node::Dir(_) => 0,
        Node::File { content, .. } => content.len() as u64,
    };
    DescriptorStat {
        type_: kind(node),
        link_count: 1,
        size,
        data_access_timestamp: None,
        data_modification_timestamp: None,
        status_change_timestamp: None,
    }
}

/// Tells one from the other: there is no inode.
fn hash(node: &Node) -> MetadataHashValue {
    let (Node::Dir(path) | Node::File { path, .. }) = node;
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    MetadataHashValue { lower: hasher.finish(), upper: 0 }
}

/// What of a file is behind an offset.
fn behind(content: &bytes::Bytes, offset: Filesize) -> bytes::Bytes {
    content.slice(usize::try_from(offset).unwrap_or(usize::MAX).min(content.len())..)
}

impl types::Host for Granted<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<types::ErrorCode> {
        Ok(error.downcast()?.into())
    }

    /// No stream of a file fails.
    fn filesystem_error_code(
        &mut self,
        _: Resource<streams::Error>,
    ) -> wasmtime::Result<Option<types::ErrorCode>> {
        self.limits.charge()?;
        Ok(None)
    }
}

impl types::HostDescriptor for Granted<'_> {
    fn read_via_stream(
        &mut self,
        open: Resource<Descriptor>,
        offset: Filesize,
    ) -> FsResult<Resource<DynInputStream>> {
        let Node::File { content, .. } = self.node(&open)? else { return Err(ErrorCode::IsDirectory.into()) };
        let stream: DynInputStream = Box::new(MemoryInputPipe::new(behind(content, offset)));
        Ok(self.table.push(stream)?)
    }

    fn read(
        &mut self,
        open: Resource<Descriptor>,
        length: Filesize,
        offset: Filesize,
    ) -> FsResult<(Vec<u8>, bool)> {
        let Node::File { content, .. } = self.node(&open)? else { return Err(ErrorCode::IsDirectory.into()) };
        let rest = behind(content, offset);
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(READ).min(rest.len());
        Ok((rest.slice(..length).to_vec(), length == rest.len()))
    }

    fn read_directory(&mut self, open: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntryStream>> {
        let files = self.files;
        let names = files.list(self.dir(&open)?).into_iter();
        let entries: Vec<_> = names
            .map(|(name, is_dir)| {
                let type_ = if is_dir { DescriptorType::Directory } else { DescriptorType::RegularFile };
                DirectoryEntry { type_, name }
            })
            .collect();
        let listing: Resource<Listing> = self.table.push(entries.into_iter())?;
        Ok(Resource::new_own(listing.rep()))
    }

    fn open_at(
        &mut self,
        open: Resource<Descriptor>,
        _: PathFlags,
        path: String,
        how: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let node = self.find(&open, &path)?;
        if flags.intersects(DescriptorFlags::WRITE | DescriptorFlags::MUTATE_DIRECTORY)
            || how.intersects(OpenFlags::CREATE | OpenFlags::TRUNCATE | OpenFlags::EXCLUSIVE)
        {
            return Err(ErrorCode::ReadOnly.into());
        }
        if how.contains(OpenFlags::DIRECTORY) && matches!(node, Node::File { .. }) {
            return Err(ErrorCode::NotDirectory.into());
        }
        self.push(node).map_err(FsError::trap)
    }

    fn get_flags(&mut self, open: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        self.node(&open).map(|_| DescriptorFlags::READ)
    }

    fn get_type(&mut self, open: Resource<Descriptor>) -> FsResult<DescriptorType> {
        self.node(&open).map(kind)
    }

    fn stat(&mut self, open: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        self.node(&open).map(stat)
    }

    fn stat_at(
        &mut self,
        open: Resource<Descriptor>,
        _: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        self.find(&open, &path).map(|node| stat(&node))
    }

    fn readlink_at(&mut self, open: Resource<Descriptor>, path: String) -> FsResult<String> {
        self.find(&open, &path)?;
        // There are no links.
        Err(ErrorCode::Invalid.into())
    }

    fn is_same_object(
        &mut self,
        one: Resource<Descriptor>,
        other: Resource<Descriptor>,
    ) -> wasmtime::Result<bool> {
        self.limits.charge()?;
        let node = |open: Resource<Descriptor>| self.table.get(&Resource::<Node>::new_borrow(open.rep()));
        Ok(node(one)? == node(other)?)
    }

    fn metadata_hash(&mut self, open: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        self.node(&open).map(hash)
    }

    fn metadata_hash_at(
        &mut self,
        open: Resource<Descriptor>,
        _: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        self.find(&open, &path).map(|node| hash(&node))
    }

    fn advise(&mut self, open: Resource<Descriptor>, _: Filesize, _: Filesize, _: Advice) -> FsResult<()> {
        self.node(&open).map(drop)
    }

    fn sync_data(&mut self, open: Resource<Descriptor>) -> FsResult<()> {
        self.node(&open).map(drop)
    }

    fn sync(&mut self, open: Resource<Descriptor>) -> FsResult<()> {
        self.node(&open).map(drop)
    }

    fn set_size(&mut self, open: Resource<Descriptor>, _: Filesize) -> FsResult<()> {
        self.refuse(&open)
    }

    fn set_times(&mut self, open: Resource<Descriptor>, _: NewTimestamp, _: NewTimestamp) -> FsResult<()> {
        self.refuse(&open)
    }

    fn write(&mut self, open: Resource<Descriptor>, _: Vec<u8>, _: Filesize) -> FsResult<Filesize> {
        self.refuse(&open)
    }

    fn write_via_stream(
        &mut self,
        open: Resource<Descriptor>,
        _: Filesize,
    ) -> FsResult<Resource<streams::OutputStream>> {
        self.refuse(&open)
    }

    fn append_via_stream(&mut self, open: Resource<Descriptor>) -> FsResult<Resource<streams::OutputStream>> {
        self.refuse(&open)
    }

    fn create_directory_at(&mut self, open: Resource<Descriptor>, _: String) -> FsResult<()> {
        self.refuse(&open)
    }

    fn set_times_at(
        &mut self,
        open: Resource<Descriptor>,
        _: PathFlags,
        _: String,
        _: NewTimestamp,
        _: NewTimestamp,
    ) -> FsResult<()> {
        self.refuse(&open)
    }

    fn link_at(
        &mut self,
        open: Resource<Descriptor>,
        _: PathFlags,
        _: String,
        _: Resource<Descriptor>,
        _: String,
    ) -> FsResult<()> {
        self.refuse(&open)
    }

    fn rename_at(
        &mut self,
        open: Resource<Descriptor>,
        _: String,
        _: Resource<Descriptor>,
        _: String,
    ) -> FsResult<()> {
        self.refuse(&open)
    }

    fn symlink_at(&mut self, open: Resource<Descriptor>, _: String, _: String) -> FsResult<()> {
        self.refuse(&open)
    }

    fn unlink_file_at(&mut self, open: Resource<Descriptor>, _: String) -> FsResult<()> {
        self.refuse(&open)
    }

    fn remove_directory_at(&mut self, open: Resource<Descriptor>, _: String) -> FsResult<()> {
        self.refuse(&open)
    }

    fn drop(&mut self, open: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<Node>::new_own(open.rep())).map(drop).map_err(Into::into)
    }
}

impl types::HostDirectoryEntryStream for Granted<'_> {
    fn read_directory_entry(
        &mut self,
        open: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        self.limits.charge().map_err(FsError::trap)?;
        Ok(self.table.get_mut(&Resource::<Listing>::new_borrow(open.rep()))?.next())
    }

    fn drop(&mut self, open: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<Listing>::new_own(open.rep())).map(drop).map_err(Into::into)
    }
}
